import { cveOperations } from "@lanthorn/contract";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { CveService } from "./service.ts";

const { endpoint, routes } = endpointsOf<CveService>();

/** `/cve/search` and `/cve/{cve_id}`. The latter matches all names below `/cve`, so that it stands behind all others of them. */
export const cveRoutes = routes(
  endpoint("cve:read", cveOperations.searchCves, {
    summary: "Search the CVE database",
    description: "CVEs whose description has all words of `q`, or whose id begins so: the known exploited first, then by EPSS and CVSS. While nothing was "
    + "loaded into the database, nothing is found; `GET /cve/db-info` says how old it is.",
    answer: "The CVEs",
  }, async (c, service) => {
    const { data, meta } = await service.search(c.req.valid("query"));
    return c.json({ data: [...data], meta }, 200);
  }),
  endpoint("cve:read", cveOperations.readCve, {
    summary: "Read a CVE",
    description: "What it is, how grave, what it affects, which ATT&CK techniques go with it, and what to do about it.",
    answer: "The CVE",
  }, (c, service) => c.json(service.read(c.req.valid("param").cve_id), 200)),
);
