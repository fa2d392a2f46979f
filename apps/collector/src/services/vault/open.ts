import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { ServiceModule } from "../../service-module.ts";
import { vaultRoutes } from "./routes.ts";
import { createVaultService, type VaultService } from "./service.ts";
import { createVaultStore } from "./store.ts";

/** The vault over the collector's database. */
export function openVault(
  deps: Omit<Parameters<typeof createVaultService>[0], "store"> & { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> },
): ServiceModule & { readonly credentials: Pick<VaultService, "sealedFor" | "countFor"> } {
  const service = createVaultService({ ...deps, store: createVaultStore(deps) });
  return { name: "vault", mount: "vault", routes: [vaultRoutes(service)], credentials: service };
}
