"""Write the three tables of the tutorial: tickets.csv, test.xlsx and open.xlsx."""

import csv
import random

from openpyxl import Workbook

random.seed(1)
said = {
    "Billing": [
        "I was charged {} euros twice",
        "Please send invoice {} again",
        "Die Rechnung {} ist falsch",
        "Es wurden {} Euro zu viel abgebucht",
        "La facture {} est fausse",
        "On m'a débité {} euros deux fois",
    ],
    "Delivery": [
        "Parcel {} has not arrived",
        "The courier left parcel {} in the rain",
        "Paket {} ist nicht da",
        "Der Fahrer hat Paket {} im Regen gelassen",
        "Le colis {} n'est pas arrivé",
        "Le livreur a perdu le colis {}",
    ],
    "Account": [
        "I cannot log in as user {}",
        "The password of user {} is refused",
        "Ich kann mich als {} nicht anmelden",
        "Das Passwort von {} wird abgelehnt",
        "Je ne peux pas ouvrir le compte {}",
        "Le mot de passe de {} est refusé",
    ],
    "Returns": [
        "I want to send order {} back",
        "The shoes {} do not fit",
        "Ich möchte {} zurückgeben",
        "Die Schuhe {} passen nicht",
        "Je veux renvoyer la commande {}",
        "Les chaussures {} ne vont pas",
    ],
}
variants = {  # as people wrote them; the last one is rare
    "Billing": ["billing", "BILLING", "Billing.", "Biling"],
    "Delivery": ["delivery", "DELIVERY", "Delivrey"],
    "Account": ["account", "ACCOUNT", "Acount"],
    "Returns": ["returns", "RETURNS", "Retruns"],
}
polite = ["Please help.", "Thank you!", "Bitte um Hilfe.", "Vielen Dank!", "Merci d'avance."]


def ticket(at):
    """A message, an amount with a decimal comma, and the queue that somebody chose for it."""
    queue = random.choice(list(said))
    about = [queue] if random.random() < 0.6 else [queue, random.choice(list(said))]
    text = " ".join(f"{random.choice(said[each])}." for each in about)
    amount = abs(random.gauss(80 if queue in ("Billing", "Returns") else 20, 25))
    *usual, rare = variants[queue]
    written = rare if at % 50 == 49 else random.choice(usual)
    return (
        f"{text.replace('{}', str(random.randint(100, 999)))} {random.choice(polite)}",
        f"{amount:.2f}".replace(".", ","),
        written if at % 4 == 3 or at % 50 == 49 else queue,
    )


old, new = [ticket(at) for at in range(600)], [ticket(at) for at in range(250)]
old[5::60] = [(*row[:2], "") for row in old[5::60]]  # nobody filled these in
with open("tickets.csv", "w", encoding="cp1252", newline="") as file:
    rows = [("message", "amount", "queue"), *old, *old[:15]]  # 15 were exported twice
    csv.writer(file, delimiter=";").writerows(rows)
for name, rows in {"test.xlsx": new[:200], "open.xlsx": [row[:2] for row in new[200:]]}.items():
    book = Workbook()
    for row in [("message", "amount", "queue"), *rows]:
        book.active.append(row)
    book.save(name)
