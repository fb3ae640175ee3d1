"""Groups and graphs of features: what their builders share."""
