# Calls the service with the Ruby client that openapi-generator generates from openapi.json.

require "cgi"
require "uri"
require "openapi_client"

LARGEST = 2**63 - 1

def pets_at(address, api_key)
  url = URI(address)
  configuration = OpenapiClient::Configuration.new do |given|
    given.scheme = url.scheme
    given.host = "#{url.host}:#{url.port}"
    given.base_path = url.path
    given.access_token = api_key
    # Otherwise the first of the servers in openapi.json is called.
    given.server_index = nil
  end
  OpenapiClient::PetsApi.new(OpenapiClient::ApiClient.new(configuration))
end

def check(ok, value)
  raise value.inspect unless ok
end

address = ENV.fetch("BASE_URL")
pets = pets_at(address, ENV.fetch("API_KEY"))

pet = pets.create_pet(OpenapiClient::NewPet.new(name: " Rex", category_id: LARGEST))
check(pet.name == " Rex" && pet.category_id == LARGEST, pet)
check(pets.get_pet(pet.id) == pet, pet)
pets.create_pet(OpenapiClient::NewPet.new(name: "Mia", category_id: 1))

first, _status, headers = pets.list_pets_with_http_info(limit: 1)
target = headers["Link"][/<([^>]*)>/, 1]
cursor = CGI.parse(URI(target).query)["cursor"].first
second = pets.list_pets(limit: 1, cursor: cursor)
check(first.first.id != second.first.id, second)

begin
  pets_at(address, "wrong").list_pets
  raise "A wrong API key was accepted"
rescue OpenapiClient::ApiError => refused
  check(refused.code == 401, refused)
  error = OpenapiClient::Error.build_from_hash(JSON.parse(refused.response_body, symbolize_names: true))
  check(error.code == "unauthorized", error)
end

reserved, = pets_at(ENV.fetch("LATER_URL"), ENV.fetch("API_KEY")).list_pets
check(reserved.name == " Rex" && reserved.category_id == LARGEST, reserved)
check(reserved.status == "reserved", reserved)
puts "Ruby: two pages, a 64-bit category, a typed 401 and a new status"
