/** As much of an OpenAPI 3.1 document as is read or written here. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: {
    readonly title: string; readonly version: string; readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly Tag[];
  readonly "x-tagGroups"?: readonly { readonly name: string; readonly tags: readonly string[] }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Components;
}

/** A heading under which operations are listed. @see OpenAPI 3.1.0 section 4.8.22 */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** What operations refer to by `$ref`, each kind by name. @see OpenAPI 3.1.0 section 4.8.7 */
export interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly responses: Readonly<Record<string, Response>>;
  readonly headers: Readonly<Record<string, object>>;
  readonly securitySchemes: Readonly<Record<string, object>>;
}

/** One method of a path. Keys of `responses` are status codes. @see OpenAPI 3.1.0 section 4.8.10 */
export interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

/** A value in the path, the query or a header, as `in` says. @see OpenAPI 3.1.0 section 4.8.12 */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

/** Bodies by media type. @see OpenAPI 3.1.0 section 4.8.14 */
export type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown; readonly examples?: object }>>;
/** An answer, or a reference to one of `components.responses`. @see OpenAPI 3.1.0 section 4.8.17 */
export type Response = Reference | { readonly description: string; readonly headers?: object; readonly content?: Content };

interface Reference {
  readonly $ref: string;
}

/** JSON Schema 2020-12, as far as zod writes it. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

