import { AFFECTED_CVE_SORT_FIELDS } from "@lanthorn/contract";
import { type Command, Option } from "commander";
import {
  type AffectedOptions, createSuppression, endSuppression, listAffected, listSuppressions, readStats, searchCves, showCve, showDatabase, startUpdate,
  type SuppressOptions,
} from "../commands/cve.ts";
import type { GroupDependencies } from "./group.ts";

/** `cve …`. */
export function addCveCommands(program: Command, { answering, clock }: GroupDependencies): void {
  const cve = program.command("cve").description("known vulnerabilities (CVE) and the devices that have them");
  answering(
    cve.command("affected").description("list the CVEs that concern your devices: what is exploited already comes first, then what likely will be, then what is graver")
      .option("--severity <severity>", "critical, high, medium, low: several with commas").option("--cvss-min <score>", "with this CVSS score or more")
      .option("--exploited", "only what CISA knows to be exploited").option("--site <site>", "of one site, by its name or id")
      .option("--device <device>", "of one device, by its name, address, MAC or id").option("--product <product>", "of one product: openbsd:openssh")
      .option("--search <text>", "by id or description")
      .option("--status <status>", "open, patched-by-distribution, suppressed, resolved: several with commas", "open")
      .option("--confidence <confidence>", "confirmed, likely, possible: several with commas", "confirmed,likely")
      .addOption(new Option("--sort <field>", "by a field; -field descends").choices(AFFECTED_CVE_SORT_FIELDS.flatMap((field) => [field, `-${field}`])).default("-risk"))
      .option("--limit <count>", "at most this many", "50").option("--csv", "print CSV of all of them, a line for each device and service", false),
    (connection, options: AffectedOptions) => listAffected(connection, options),
  );
  answering(
    cve.command("show <id>").description("show a CVE: what it is, how grave, which of your devices have it, and what to do"),
    (connection, id: string) => showCve(connection, id),
  );
  answering(
    cve.command("search <words...>").description("search all known CVEs by words of their description or the beginning of their id")
      .option("--cvss-min <score>", "with this CVSS score or more").option("--limit <count>", "at most this many, up to 100", "20"),
    (connection, words: string[], options: { cvssMin?: string; limit: string }) => searchCves(connection, words, options),
  );
  answering(cve.command("stats").description("count the CVEs that concern your devices").option("--site <site>", "of one site, by its name or id"),
    (connection, options: { site?: string }) => readStats(connection, options.site));
  answering(
    cve.command("suppress").description("say that some matches do not count, and why: they are not listed as open any more, and their alerts end. All that you give must match")
      .option("--cve <id>", "a CVE: CVE-2024-6387; every one if left out").option("--product <product>", "a product: openbsd:openssh")
      .option("--device <device>", "on one device, by its name, address, MAC or id").option("--site <site>", "at one site, by its name or id")
      .requiredOption("--reason <text>", "why, for who reads it later").option("--expires <when>", "when it ends: 90d or 2026-12-31; it has no end if left out")
      .addHelpText("after", `
Examples:
  lanthorn cve suppress --cve CVE-2024-6387 --device nas --reason "LoginGraceTime is 0" --expires 90d
  lanthorn cve suppress --product apache:http_server --site "Store 12" --reason "behind the gateway's filter until the update" --expires 2026-12-31`),
    (connection, options: SuppressOptions) => createSuppression(connection, options, clock.now()),
  );
  answering(cve.command("suppressions").description("list what does not count, until when and why"), (connection) => listSuppressions(connection));
  answering(cve.command("unsuppress <id>").description("end a suppression: what it hid counts again"), (connection, id: string) => endSuppression(connection, id));
  answering(cve.command("update").description("update the collector's CVE database from its feeds now; it does so by itself every 6 hours"),
    (connection) => startUpdate(connection));
  answering(cve.command("database").description("show how old and how large the collector's CVE database is, and how its feeds are"),
    (connection) => showDatabase(connection));
}
