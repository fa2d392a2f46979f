/**
 * Tests of the collector, as globs below its source, that open no database, or ask for what no database has a part in: on PostgreSQL they
 * would say the same once more.
 */
export const WITHOUT_DATABASE: readonly string[] = [
  "archives/*", "certificates/*", "broker/*", "sealing/{sealing,keyring}", "identity/{keys,join,similarity}", "configuration",
  "deliveries/**/{attempt,resolve,target-policy,signatures,semaphore,settle}", "gateway/**/{rate-limit,json-limits,nul,bridge,close-frame}",
  "services/auth/**/{token-key,passwords}", "backups/**/{age,tar,libpq}", "db/**/{address-range,hostname-key,pace}",
  "services/config-versions/**/{text-worker,mask,large-texts}", "services/cve/{database/**/*,matching/match-software,sharing/*,take-feeds}", "commands/cve-command", "services/ipam/**/occupied",
  "services/feeds/checking/*", "documents/**/{documents,described,client,every-call-access,every-call-bodies}",
].map((name) => `apps/collector/src/${name}.test.ts`);
