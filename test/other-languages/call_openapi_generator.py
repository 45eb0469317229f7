"""Calls the service with the Python client that openapi-generator generates from openapi.json."""

import os
from urllib.parse import parse_qs, urlsplit

from openapi_client import ApiClient, ApiException, Configuration, NewPet, PetsApi

LARGEST = 9223372036854775807


def pets_at(address, api_key):
    return PetsApi(ApiClient(Configuration(host=address, access_token=api_key)))


address = os.environ["BASE_URL"]
pets = pets_at(address, os.environ["API_KEY"])

pet = pets.create_pet(NewPet(name=" Rex", categoryId=LARGEST))
assert pet.name == " Rex" and pet.category_id == LARGEST, pet
assert pets.get_pet(pet.id) == pet
pets.create_pet(NewPet(name="Mia", categoryId=1))

first = pets.list_pets_with_http_info(limit=1)
link = first.headers["Link"].split(">")[0].lstrip("<")
[cursor] = parse_qs(urlsplit(link).query)["cursor"]
second = pets.list_pets(limit=1, cursor=cursor)
assert first.data[0].id != second[0].id, second

try:
    pets_at(address, "wrong").list_pets()
    raise AssertionError("A wrong API key was accepted")
except ApiException as refused:
    assert refused.status == 401 and refused.data.code == "unauthorized", refused

[reserved] = pets_at(os.environ["LATER_URL"], os.environ["API_KEY"]).list_pets()
assert reserved.name == " Rex" and reserved.category_id == LARGEST, reserved
assert reserved.status == "reserved", reserved
print("Python (openapi-generator): two pages, a 64-bit category, a typed 401 and a new status")
