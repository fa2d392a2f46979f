import * as z from "zod";

const Count = z.int().min(0);

/** What the site's resolver beside a probe did since it began, and how its servers are. */
export const ResolverState = z.object({
  queries: Count.describe("Queries that came."),
  from_cache: Count.describe("Queries that were answered from the cache."),
  stale: Count.describe("Queries that got an expired answer, because no server answered in time."),
  forwarded: Count.describe("Queries that servers were asked for."),
  failed: Count.describe("Queries that no server answered."),
  limited: Count.describe("Queries over their client's limit."),
  ignored: Count.describe("Queries of addresses that may not ask, and messages that are no queries."),
  blocked: Count.describe("Queries that were answered as a block list says."),
  observed: Count.describe("Queries that a block list would have blocked, were it not only observed."),
  threats_left_out: Count.describe("Queries for names of malware, phishing and command and control that are in no event, because too many clients and lists were at once."),
  upstreams: Count.describe("Servers that queries are forwarded to."),
  upstreams_down: Count.describe("How many of those do not answer."),
  unreachable: Count.describe("Groups of servers, the general ones and those of each forwarded zone, of which none answers."),
});
export type ResolverState = z.infer<typeof ResolverState>;
