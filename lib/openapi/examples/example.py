"""Adds an animal and lists all animals, with the client that openapi-python-client generates."""

import os
import uuid
from urllib.parse import parse_qs, urlsplit

from animal_store_client import AuthenticatedClient
from animal_store_client.api.pets import create_pet, list_pets
from animal_store_client.models import Error, NewPet
from animal_store_client.types import UNSET

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"])

new_pet = NewPet(name="Rex", category_id=1)
# With the same key, a creation whose response was lost can be repeated.
pet = create_pet.sync(client=client, body=new_pet, idempotency_key=str(uuid.uuid4()))
if isinstance(pet, Error):
    raise SystemExit(f"{pet.status} {pet.code}: {pet.message}")
print(f"added {pet.id}")

cursor = UNSET
while cursor is not None:
    page = list_pets.sync_detailed(client=client, limit=100, cursor=cursor)
    if isinstance(page.parsed, Error):
        raise SystemExit(f"{page.parsed.status} {page.parsed.code}: {page.parsed.message}")
    for pet in page.parsed:
        print(f'{pet.id} "{pet.name}" {pet.category_id} {pet.status}')
    # The last page has no link to a next one.
    query = urlsplit(page.headers.get("Link", "").split(">")[0]).query
    [cursor] = parse_qs(query).get("cursor", [None])
