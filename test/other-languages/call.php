<?php
// Calls the service with the PHP client that openapi-generator generates from openapi.json.

use OpenAPI\Client\Api\PetsApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\NewPet;

// Debian's package of Guzzle, and the generated client.
require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class) {
    require getenv('CLIENT') . '/lib/' . strtr(substr($class, strlen('OpenAPI\\Client\\')), '\\', '/') . '.php';
});

function pets_at(string $address, string $api_key): PetsApi
{
    $configuration = (new Configuration())->setHost($address)->setAccessToken($api_key);
    return new PetsApi(new GuzzleHttp\Client(), $configuration);
}

function check(bool $ok, mixed $value): void
{
    if (!$ok) {
        throw new Exception(print_r($value, true));
    }
}

$address = getenv('BASE_URL');
$pets = pets_at($address, getenv('API_KEY'));

$pet = $pets->createPet((new NewPet())->setName(' Rex')->setCategoryId(PHP_INT_MAX));
check($pet->getName() === ' Rex' && $pet->getCategoryId() === PHP_INT_MAX, $pet);
check($pets->getPet($pet->getId()) == $pet, $pet);
$pets->createPet(new NewPet(['name' => 'Mia', 'category_id' => 1]));

[$first, , $headers] = $pets->listPetsWithHttpInfo(1);
parse_str(parse_url(trim(explode('>', $headers['Link'][0])[0], '<'), PHP_URL_QUERY), $query);
$second = $pets->listPets(1, null, $query['cursor']);
check($first[0]->getId() !== $second[0]->getId(), $second);

try {
    pets_at($address, 'wrong')->listPets();
    throw new Exception('A wrong API key was accepted');
} catch (ApiException $refused) {
    check($refused->getCode() === 401, $refused);
    check($refused->getResponseObject()->getCode() === 'unauthorized', $refused);
}

[$reserved] = pets_at(getenv('LATER_URL'), getenv('API_KEY'))->listPets();
check($reserved->getName() === ' Rex' && $reserved->getCategoryId() === PHP_INT_MAX, $reserved);
check($reserved->getStatus() === 'reserved', $reserved);
echo "PHP: two pages, a 64-bit category, a typed 401 and a new status\n";
