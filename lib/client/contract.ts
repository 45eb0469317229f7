// Written by npm run openapi, from openapi.json.

export interface paths {
    readonly "/pets": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List animals
         * @description One page of the catalogue. When there are more animals, `Link` leads to the next page; ask for it as it stands, until a page has no `Link`.
         */
        readonly get: operations["listPets"];
        readonly put?: never;
        /**
         * Add an animal
         * @description Adds one animal. With an `Idempotency-Key` it is safe to send the same request again after a lost answer: it adds the animal once, and answers with it each time.
         */
        readonly post: operations["createPet"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/pets/{petId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get an animal
         * @deprecated
         * @description One animal by its `id`.
         *
         *     **Deprecated** since 21 November 2026 and removed on 5 December 2030: from then on it answers 410. Use `GET /pets` instead, with `status` to filter.
         */
        readonly get: operations["getPet"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description Whether an animal can be had.
         * @enum {string}
         */
        readonly PetStatus: "available" | "pending" | "sold";
        /** @description What a client sends to add an animal. */
        readonly NewPet: {
            /**
             * @description Not blank, in well-formed Unicode, and kept as sent.
             * @example Rex
             */
            readonly name: string;
            /**
             * Format: int64
             * @description The category that the animal belongs to. Every digit is kept; a number that is not written in plain digits, such as `1.0` or `1e2`, is refused.
             * @example 1
             */
            readonly categoryId: number | bigint;
            /** @default available */
            readonly status?: components["schemas"]["PetStatus"];
        };
        /** @description An animal of the catalogue. */
        readonly Pet: {
            readonly id: components["schemas"]["PetId"];
            /**
             * @description Not blank, in well-formed Unicode, and kept as sent.
             * @example Rex
             */
            readonly name: string;
            /**
             * Format: int64
             * @description The category that the animal belongs to. Every digit is kept; a number that is not written in plain digits, such as `1.0` or `1e2`, is refused.
             * @example 1
             */
            readonly categoryId: number | bigint;
            readonly status: components["schemas"]["PetStatus"];
        };
        /** @description Animals, ordered by status, then id. */
        readonly Pets: readonly components["schemas"]["Pet"][];
        /** @description The body of every error response. */
        readonly Error: {
            /**
             * @description For programs: it tells one error from another. Codes may be added.
             * @example invalid_request
             * @example unauthorized
             * @example not_found
             * @example method_not_allowed
             * @example endpoint_removed
             * @example payload_too_large
             * @example unsupported_media_type
             * @example idempotency_key_reused
             * @example too_many_requests
             * @example internal_error
             * @example bad_gateway
             * @example service_unavailable
             * @example gateway_timeout
             */
            readonly code: string;
            /** @description For people: its words may change. */
            readonly message: string;
            /** @description The HTTP status code of the response. */
            readonly status: number;
        };
        /**
         * Format: int64
         * @description Given by the service, and exact in every JSON reader.
         * @example 7905532871371142
         */
        readonly PetId: number;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description An answer depends on the API key, so nothing on its way may keep it. */
        readonly "Cache-Control": "no-store";
        /**
         * @description Names the request, for a question about it.
         * @example 0b5f3d6e-7a53-4b0e-9d3c-5f1f2c6b7a10
         */
        readonly "x-amzn-RequestId": string;
        /**
         * @description Names the body as it is: sent back as `If-None-Match`, it saves getting it again (RFC 9110).
         * @example "vZ_ntEUTgTOaGjBG3whJRfYfzbKLDHKxNVXOsqZQKpw"
         */
        readonly ETag: string;
        /**
         * @description Leads to the next page (RFC 8288), relative to the address of this one. Absent on the last page.
         * @example </v1/pets?limit=20&cursor=AAAcFgyVVVVVVosXT2bK>; rel="next"
         */
        readonly NextLink: string;
        /**
         * @description Since when the operation is deprecated (RFC 9745), in seconds since 1970.
         * @example @1795219200
         */
        readonly Deprecation: string;
        /**
         * @description When the operation ends (RFC 8594).
         * @example Thu, 05 Dec 2030 00:00:00 GMT
         */
        readonly Sunset: string;
        /**
         * @description Leads to what takes the place of the operation (RFC 8288, RFC 5829).
         * @example </v1/pets>; rel="successor-version"
         */
        readonly SuccessorLink: string;
        /**
         * @description The methods that the path has.
         * @example GET, HEAD, POST, OPTIONS
         */
        readonly Allow: string;
        /**
         * @description How long to wait before the request is sent again, in seconds.
         * @example 1
         */
        readonly "Retry-After": string;
        /** @description The scheme of the API key (RFC 6750), where the gateway has refused the request. */
        readonly "WWW-Authenticate": "Bearer";
        /** @description `WWW-Authenticate` as API Gateway hands it on, where the service has refused the request. */
        readonly "x-amzn-remapped-www-authenticate": "Bearer";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly listPets: {
        readonly parameters: {
            readonly query?: {
                /** @description The most animals that the page may hold. */
                readonly limit?: number;
                /** @description Lists only animals of this status. */
                readonly status?: components["schemas"]["PetStatus"];
                /** @description Where the page starts: take it, with the whole address, from the `Link` of the page before. It holds for the `status` that it was given for. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page of animals. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Link: components["headers"]["NextLink"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Pets"];
                };
            };
            /** @description `invalid_request`: The query, a header or the body is wrong; the message names each offending field. */
            readonly 400: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: The API key is missing, mistyped, unknown, expired or revoked. Comes before any other check. */
            readonly 401: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    readonly "x-amzn-remapped-www-authenticate": components["headers"]["x-amzn-remapped-www-authenticate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `method_not_allowed`: The path has other methods, which `Allow` lists. */
            readonly 405: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Allow: components["headers"]["Allow"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: The request is larger than any that the operation takes. */
            readonly 413: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too_many_requests`: Requests come too fast; send it again after `Retry-After`. */
            readonly 429: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly "Retry-After": components["headers"]["Retry-After"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: The service has a defect. */
            readonly 500: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `bad_gateway`: The service gave no usable answer. Repeating a creation is safe only under an `Idempotency-Key`. */
            readonly 502: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: The service crashed, has no capacity, or can not reach its store; send it again after `Retry-After`. Repeating a creation is safe only under an `Idempotency-Key`. */
            readonly 503: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly "Retry-After": components["headers"]["Retry-After"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `gateway_timeout`: The service took too long. */
            readonly 504: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly createPet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description Any text that no other creation of yours has, such as a UUID.
                 * @example 4f0c5f2e-8d0b-4a57-9a0e-0d0f0f8f8a11
                 */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description The animal, in at most 8,192 bytes of UTF-8. */
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewPet"];
            };
        };
        readonly responses: {
            /** @description The animal, with its `id`. */
            readonly 201: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Pet"];
                };
            };
            /** @description `invalid_request`: The query, a header or the body is wrong; the message names each offending field. */
            readonly 400: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: The API key is missing, mistyped, unknown, expired or revoked. Comes before any other check. */
            readonly 401: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    readonly "x-amzn-remapped-www-authenticate": components["headers"]["x-amzn-remapped-www-authenticate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `method_not_allowed`: The path has other methods, which `Allow` lists. */
            readonly 405: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Allow: components["headers"]["Allow"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: The request is larger than any that the operation takes. */
            readonly 413: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: The body is not declared as `application/json` in UTF-8. */
            readonly 415: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_key_reused`: The `Idempotency-Key` came before with another animal. */
            readonly 422: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too_many_requests`: Requests come too fast; send it again after `Retry-After`. */
            readonly 429: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly "Retry-After": components["headers"]["Retry-After"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: The service has a defect. */
            readonly 500: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `bad_gateway`: The service gave no usable answer. Repeating a creation is safe only under an `Idempotency-Key`. */
            readonly 502: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: The service crashed, has no capacity, or can not reach its store; send it again after `Retry-After`. Repeating a creation is safe only under an `Idempotency-Key`. */
            readonly 503: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly "Retry-After": components["headers"]["Retry-After"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `gateway_timeout`: The service took too long. */
            readonly 504: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly getPet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description The `ETag` of the animal as the client has it.
                 * @example "vZ_ntEUTgTOaGjBG3whJRfYfzbKLDHKxNVXOsqZQKpw"
                 */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                /** @description The `id` of the animal. A value that none can have is answered with 404. */
                readonly petId: components["schemas"]["PetId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The animal. */
            readonly 200: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Pet"];
                };
            };
            /** @description The animal is as `If-None-Match` names it. */
            readonly 304: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly ETag: components["headers"]["ETag"];
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request`: The query, a header or the body is wrong; the message names each offending field. */
            readonly 400: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unauthorized`: The API key is missing, mistyped, unknown, expired or revoked. Comes before any other check. */
            readonly 401: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    readonly "x-amzn-remapped-www-authenticate": components["headers"]["x-amzn-remapped-www-authenticate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_found`: There is no such animal, or no such path. */
            readonly 404: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `method_not_allowed`: The path has other methods, which `Allow` lists. */
            readonly 405: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly Allow: components["headers"]["Allow"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `endpoint_removed`: The operation has reached its sunset. */
            readonly 410: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: The request is larger than any that the operation takes. */
            readonly 413: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `too_many_requests`: Requests come too fast; send it again after `Retry-After`. */
            readonly 429: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly "Retry-After": components["headers"]["Retry-After"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: The service has a defect. */
            readonly 500: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `bad_gateway`: The service gave no usable answer. Repeating a creation is safe only under an `Idempotency-Key`. */
            readonly 502: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: The service crashed, has no capacity, or can not reach its store; send it again after `Retry-After`. Repeating a creation is safe only under an `Idempotency-Key`. */
            readonly 503: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly "Retry-After": components["headers"]["Retry-After"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `gateway_timeout`: The service took too long. */
            readonly 504: {
                headers: {
                    readonly "Cache-Control": components["headers"]["Cache-Control"];
                    readonly "x-amzn-RequestId": components["headers"]["x-amzn-RequestId"];
                    readonly Deprecation: components["headers"]["Deprecation"];
                    readonly Sunset: components["headers"]["Sunset"];
                    readonly Link: components["headers"]["SuccessorLink"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
