// Validates requests to the service and its responses with kin-openapi.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

func must(err error) {
	if err != nil {
		log.Panicln(err)
	}
}

// exchange sends a request to the service at this address, and validates it and its response.
func exchange(address string, method string, path string, body string, status int) {
	document, err := openapi3.NewLoader().LoadFromFile(os.Getenv("CONTRACT"))
	must(err)
	must(document.Validate(context.Background()))
	document.Servers = openapi3.Servers{{URL: address}}
	router, err := gorillamux.NewRouter(document)
	must(err)
	request, err := http.NewRequest(method, address+path, bytes.NewBufferString(body))
	must(err)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	route, parameters, err := router.FindRoute(request)
	must(err)
	input := &openapi3filter.RequestValidationInput{
		Request: request, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	must(openapi3filter.ValidateRequest(context.Background(), input))
	response, err := http.DefaultClient.Do(request)
	must(err)
	if response.StatusCode != status {
		log.Panicln(response.Status)
	}
	must(openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: response.StatusCode, Header: response.Header, Body: response.Body,
	}))
}

func main() {
	exchange(os.Getenv("BASE_URL"), "POST", "/pets", `{"name":" Rex","categoryId":9223372036854775807}`, 201)
	exchange(os.Getenv("BASE_URL"), "GET", "/pets?limit=1", "", 200)
	exchange(os.Getenv("BASE_URL"), "GET", "/pets/9007199254740991", "", 404)
	exchange(os.Getenv("LATER_URL"), "GET", "/pets", "", 200)
	fmt.Println("Go (kin-openapi): a page, a creation, an error and a new status")
}
