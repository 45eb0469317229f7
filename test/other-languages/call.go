// Calls the service with the Go client that openapi-generator generates from openapi.json.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"net/url"
	"os"
	"strings"

	client "example.com/animal-store/client"
)

// as returns a context in which calls send this API key.
func as(apiKey string) context.Context {
	return context.WithValue(context.Background(), client.ContextAccessToken, apiKey)
}

// petsAt returns a client of the service at this address.
func petsAt(address string) *client.PetsAPIService {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: address}}
	return client.NewAPIClient(configuration).PetsAPI
}

func check(ok bool, values ...any) {
	if !ok {
		log.Panicln(values...)
	}
}

func main() {
	pets := petsAt(os.Getenv("BASE_ADDRESS"))
	user := as(os.Getenv("API_KEY"))

	pet, _, err := pets.CreatePet(user).PetCreation(*client.NewPetCreation("Rex", math.MaxInt64)).Execute()
	check(err == nil && pet.CategoryId == math.MaxInt64, pet, err)
	found, _, err := pets.GetPet(user, pet.Id).Execute()
	check(err == nil && *found == *pet, found, err)
	_, _, err = pets.CreatePet(user).PetCreation(*client.NewPetCreation("Mia", 1)).Execute()
	check(err == nil, err)

	first, response, err := pets.ListPets(user).Limit(1).Execute()
	check(err == nil && len(first) == 1, first, err)
	target, _, _ := strings.Cut(strings.TrimPrefix(response.Header.Get("Link"), "<"), ">")
	next, err := url.Parse(target)
	check(err == nil, err)
	second, _, err := pets.ListPets(user).Limit(1).Cursor(next.Query().Get("cursor")).Execute()
	check(err == nil && len(second) == 1 && second[0].Id != first[0].Id, second, err)

	_, _, err = pets.ListPets(as("wrong")).Execute()
	var refused *client.GenericOpenAPIError
	check(errors.As(err, &refused), err)
	body, typed := refused.Model().(client.Error)
	check(typed && body.Status == 401 && body.Code == "unauthorized", body)

	later, _, err := petsAt(os.Getenv("LATER_ADDRESS")).ListPets(user).Execute()
	check(err == nil && len(later) == 1 && later[0].Status == "reserved", later, err)
	fmt.Println("Go: two pages, a 64-bit category, a typed 401 and a new status")
}
