import { cveOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { CveUpdatesService } from "./service.ts";

const { endpoint, routes } = endpointsOf<CveUpdatesService>();

/** `/cve/update` and `/cve/db-info`. */
export const cveUpdateRoutes = routes(
  endpoint("cve:read", cveOperations.readCveDatabase, {
    summary: "Read how old the CVE database is and when it is updated next", answer: "The database and its feeds",
  }, async (c, service) => c.json(await service.info(identityOf(c).tenantId), 200)),
  endpoint("cve:write", cveOperations.startCveUpdate, {
    summary: "Start an update of the CVE database from its feeds",
    description: "The feeds are the deployment's, and one update runs at a time: 409 while one does, and where feeds are disabled. What has not "
    + "changed is not downloaded again, and a source that asked to be left alone is (`waiting`). `feed_update` on the stream says how far it is, "
    + "every five seconds and when it ends, to the tenant that started it; `GET /cve/db-info` has the same. A feed that fails leaves its last good data in use.",
    answer: "The update, running",
  }, async (c, service) => c.json(await service.start(actorOf(c)), 202)),
);
