"""The public names, for type checkers: see ``_NAMES`` of the module."""

from textreg import explain as explain
from textreg.builtin.groups import Group as Group
from textreg.builtin.groups import Sentence as Sentence
from textreg.builtin.separable import Elastic as Elastic
from textreg.builtin.separable import Lasso as Lasso
from textreg.builtin.separable import Ridge as Ridge
from textreg.checking.check import check as check
from textreg.errors import TextregError as TextregError
from textreg.estimators.linear import LinearClassifier as LinearClassifier
from textreg.estimators.linear import LinearRegressor as LinearRegressor
from textreg.estimators.text import TextClassifier as TextClassifier
from textreg.estimators.text import TextRegressor as TextRegressor
from textreg.estimators.text import TextVectorizer as TextVectorizer
from textreg.measure.evaluation import evaluate as evaluate
from textreg.model.model import Model as Model
from textreg.model.storage import load_model
from textreg.plugins.registry import graph_builder as graph_builder
from textreg.plugins.registry import group_builder as group_builder
from textreg.plugins.registry import loss as loss
from textreg.plugins.registry import register as register
from textreg.plugins.registry import register_file as register_file
from textreg.plugins.registry import regularizer as regularizer
from textreg.plugins.registry import tokenizer as tokenizer
from textreg.records import Corpus as Corpus
from textreg.records import Graph as Graph
from textreg.records import Groups as Groups
from textreg.records import Problem as Problem
from textreg.records import Solution as Solution
from textreg.training.train import train as train
from textreg.training.train import train_batches as train_batches
from textreg.training.update import update as update

__version__: str
load = load_model
