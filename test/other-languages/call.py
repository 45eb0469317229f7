"""Calls the service with the Python client that openapi-python-client generates from openapi.json."""

import os
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from animal_store_client import AuthenticatedClient
from animal_store_client.api.pets import create_pet, get_pet, list_pets
from animal_store_client.models import Error, NewPet, Pet

LARGEST = 9223372036854775807
address = os.environ["BASE_ADDRESS"]
client = AuthenticatedClient(base_url=address, token=os.environ["API_KEY"])

pet = create_pet.sync(client=client, body=NewPet(name="Rex", category_id=LARGEST))
assert isinstance(pet, Pet) and pet.category_id == LARGEST, pet
assert get_pet.sync(client=client, pet_id=pet.id) == pet
create_pet.sync(client=client, body=NewPet(name="Mia", category_id=1))

first = list_pets.sync_detailed(client=client, limit=1)
link = first.headers["Link"].split(">")[0].lstrip("<")
[cursor] = parse_qs(urlsplit(link).query)["cursor"]
second = list_pets.sync(client=client, limit=1, cursor=cursor)
assert isinstance(first.parsed, list) and isinstance(second, list)
assert len({listed.id for listed in first.parsed + second}) == 2, second

refused = list_pets.sync_detailed(client=AuthenticatedClient(base_url=address, token="wrong"))
assert refused.status_code == HTTPStatus.UNAUTHORIZED
assert isinstance(refused.parsed, Error) and refused.parsed.code == "unauthorized", refused

later = AuthenticatedClient(base_url=os.environ["LATER_ADDRESS"], token=os.environ["API_KEY"])
[reserved] = list_pets.sync(client=later)
assert reserved.status == "reserved", reserved
print("Python: two pages, a 64-bit category, a typed 401 and a new status")
