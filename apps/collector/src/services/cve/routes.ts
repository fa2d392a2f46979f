import { z } from "@hono/zod-openapi";
import { cveOperations } from "@lanthorn/contract";
import { answerCsv } from "../../gateway/csv/csv.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { AffectedService } from "./affected/service.ts";
import type { CveService } from "./service.ts";
import type { SuppressionsService } from "./suppressions/service.ts";

const { endpoint, routes } = endpointsOf<{ readonly cves: CveService; readonly affected: AffectedService; readonly suppressions: SuppressionsService }>();

/** `/cve/affected`, `/cve/stats`, `/cve/suppressions`, `/cve/search` and `/cve/{cve_id}`. The last matches all names below `/cve`, so that it stands behind all others of them. */
export const cveRoutes = routes(
  endpoint("cve:read", cveOperations.exportAffectedCves, {
    summary: "Export matches of CVEs as CSV",
    description: "All pages of the list in the format of RFC 4180, with a header line, and a line for each CVE and service that has it. "
    + "A cell that a spreadsheet would read as a formula begins with an apostrophe.",
    answer: [200, "One line for each match", { "text/csv": { schema: z.string() } }],
  }, async (c, { affected }) => answerCsv(c, "cves.csv", await affected.exportCsv(identityOf(c).tenantId, c.req.valid("query")))),
  endpoint("cve:read", cveOperations.listAffectedCves, {
    summary: "List CVEs that concern devices",
    description: "The software that probes have named is matched against the CVE database: at once when it is seen or changes, and after each update of the database. "
    + "By default only what counts is listed: open matches that are confirmed or likely, the known exploited first, then by EPSS and CVSS. Builds that the "
    + "distribution has patched, and products of unknown version, are listed where `status` and `confidence` name them.",
    answer: "CVEs with the devices that they concern",
  }, async (c, { affected }) => c.json(toAnswer(await affected.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("cve:read", cveOperations.readCveStats, {
    summary: "Count CVEs that concern devices", description: "Of what counts: open matches that are confirmed or likely.", answer: "How many there are",
  }, async (c, { affected }) => c.json(await affected.stats(identityOf(c).tenantId, c.req.valid("query").site_id), 200)),
  endpoint("cve:read", cveOperations.listCveSuppressions, {
    summary: "List suppressions", answer: "Suppressions that have not expired, oldest first",
  }, async (c, { suppressions }) => c.json(toAnswer(await suppressions.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("cve:read", cveOperations.readCveSuppression, {
    summary: "Read a suppression", answer: "The suppression",
  }, async (c, { suppressions }) => c.json(await suppressions.read(identityOf(c).tenantId, c.req.valid("param").suppression_id), 200)),
  endpoint("cve:write", cveOperations.createCveSuppression, {
    summary: "Suppress matches",
    description: "Matches that every given part fits do not count any more: they are not listed as open, and their alerts end. Send `product`, `device_id`, `site_id` or "
    + "several of them, and `cve_id` to suppress one CVE only. A tenant has at most 1000 suppressions.",
    example: {
      cve_id: "CVE-2024-6387", product: "openbsd:openssh", site_id: "01989f2e-7c11-7aa0-b3c4-5d6e7f809103", reason: "LoginGraceTime is 0 on all hosts",
      expires_at: "2026-12-31T00:00:00.000Z",
    },
    answer: "The suppression",
  }, async (c, { suppressions }) => {
    const made = await suppressions.create(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/cve/suppressions/${made.id}` });
  }),
  endpoint("cve:write", cveOperations.updateCveSuppression, {
    summary: "Change a suppression", description: "Its reason and its end. Fields left out stay.", answer: "The suppression",
  }, async (c, { suppressions }) => c.json(await suppressions.update(actorOf(c), c.req.valid("param").suppression_id, c.req.valid("json")), 200)),
  endpoint("cve:write", cveOperations.deleteCveSuppression, {
    summary: "End a suppression", answer: "Ended: what it hid counts again",
  }, async (c, { suppressions }) => {
    await suppressions.remove(actorOf(c), c.req.valid("param").suppression_id);
    return c.body(null, 204);
  }),
  endpoint("cve:read", cveOperations.searchCves, {
    summary: "Search the CVE database",
    description: "CVEs whose description has all words of `q`, or whose id begins so: the known exploited first, then by EPSS and CVSS. While nothing was "
    + "loaded into the database, nothing is found; `GET /cve/db-info` says how old it is.",
    answer: "The CVEs",
  }, async (c, { cves }) => {
    const { data, meta } = await cves.search(c.req.valid("query"));
    return c.json({ data: [...data], meta }, 200);
  }),
  endpoint("cve:read", cveOperations.readCve, {
    summary: "Read a CVE",
    description: "What it is, how grave, what it affects, which ATT&CK techniques go with it, which of your devices it counts for, and what to do about it.",
    answer: "The CVE",
  }, async (c, { cves }) => c.json(await cves.read(identityOf(c).tenantId, c.req.valid("param").cve_id), 200)),
);
