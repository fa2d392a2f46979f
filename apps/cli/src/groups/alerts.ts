import { ALERT_SOURCES, MAX_BULK, parseAlertFilter } from "@lanthorn/contract";
import { type Command, Option } from "commander";
import {
  acknowledgeAlerts, listAlerts, listMutes, muteAlerts, type MuteOptions, resolveAlerts, showAlert, unmuteAlerts,
} from "../commands/alerts.ts";
import { type AlertChangeOptions, changeAlerts } from "../commands/bulk.ts";
import { countAlerts, type FacetOptions } from "../commands/facets.ts";
import { parseCount } from "../options/row-count.ts";
import { siteFilter } from "../site-id.ts";
import type { GroupDependencies } from "./group.ts";

interface ListOptions {
  readonly status?: string;
  readonly source?: string;
  readonly severity?: string;
  readonly type?: string;
  readonly site?: string;
  readonly since?: string;
  readonly search?: string;
  /** In the filter language. */
  readonly filter?: string;
}

const NOTE = "why, for who reads the alert's history later";

/** `alerts …`. */
export function addAlertCommands(program: Command, { answering, clock }: GroupDependencies): void {
  const alerts = program.command("alerts").description("the alerts: what somebody should look at");
  answering(
    alerts.command("list").description("list the alerts, all pages; by default those that are not resolved")
      .option("--status <status>", "open, acknowledged, resolved: several with commas")
      .option("--source <source>", "ids, rogue, health …")
      .option("--severity <severity>", "critical, high, medium, low, info").option("--type <type>", "of a type: arp_spoofing, rogue_dhcp …")
      .option("--site <site>", "of one site, by its name or id").option("--since <duration>", "seen since: 24h, 7d")
      .option("--search <text>", "by title, description, subject or address")
      .option("--filter <text>", "in the filter language: 'severity:>=high -status:resolved seen:<24h'"),
    async (connection, { site, ...filters }: ListOptions) => listAlerts(connection, { ...openUnless(filters), ...filters, ...await siteFilter(connection.rest, site) }),
  );
  answering(
    alerts.command("facets").description("count the values of the alerts that a filter leaves, of all states: severities, types, sites …")
      .option("--site <site>", "of one site, by its name or id").option("--filter <text>", "in the filter language: 'severity:>=high -status:resolved'"),
    (connection, options: FacetOptions) => countAlerts(connection, options),
  );
  answering(
    alerts.command("show <id>").description("show an alert: what was seen, what to do, and where it is explained"),
    (connection, id: string) => showAlert(connection, id),
  );
  answering(
    alerts.command("ack <id...>").description("acknowledge alerts: say that you look after them").option("--note <text>", NOTE),
    (connection, ids: string[], options: { note?: string }) => acknowledgeAlerts(connection, ids, options),
  );
  answering(
    alerts.command("resolve <id...>").description("resolve alerts: say that they are dealt with; if it happens again, a new alert is raised")
      .option("--note <text>", NOTE),
    (connection, ids: string[], options: { note?: string }) => resolveAlerts(connection, ids, options),
  );
  answering(
    alerts.command("change").description("acknowledge, resolve or mute all alerts that a filter leaves; without --expect, only say how many they are")
      .requiredOption("--filter <text>", "in the filter language: 'severity:<=low status:open seen:>7d'")
      .addOption(new Option("--status <status>", "what they become").choices(["acknowledged", "resolved"]))
      .option("--mute <when>", "instead of --status: until when the same as each of them is muted: 8h, 30d or 2026-12-31").option("--note <text>", NOTE)
      .option("--expect <count>", "how many they are to be: if another number matches, nothing is changed", (text) => parseCount(text, MAX_BULK, "--expect")),
    (connection, options: AlertChangeOptions) => changeAlerts(connection, options, clock.now()),
  );
  answering(
    alerts.command("mute").description("do not notify anybody of some alerts for a time; they are still counted and listed. All that you give must match")
      .addOption(new Option("--source <source>", "what raises them").choices(ALERT_SOURCES)).option("--type <type>", "of a type: arp_spoofing, rogue_dhcp …")
      .option("--subject <subject>", "about a subject, as `lanthorn alerts show` says it; with * at its end, subjects that begin so")
      .option("--site <site>", "of one site, by its name or id")
      .requiredOption("--expires <when>", "when it ends, within 366 days: 8h, 30d or 2026-12-31").option("--reason <text>", "why, for who reads it later")
      .addHelpText("after", `
Examples:
  lanthorn alerts mute --type duplicate_ip --subject 10.0.0.7 --expires 8h --reason "moving the server"
  lanthorn alerts mute --source rogue --site "Store 12" --expires 2h --reason "maintenance"

What is right for good is better allowed: see lanthorn guards allow --help`),
    (connection, options: MuteOptions) => muteAlerts(connection, options, clock.now()),
  );
  answering(alerts.command("mutes").description("list what is muted, until when and why"), (connection) => listMutes(connection));
  answering(alerts.command("unmute <id>").description("end a mute"), (connection, id: string) => unmuteAlerts(connection, id));
}

/** Where nobody says in which state alerts are, resolved ones are left out. */
function openUnless({ filter }: ListOptions): { readonly status?: string } {
  const parsed = filter === undefined ? null : parseAlertFilter(filter);
  return parsed?.ok && parsed.filter.status !== undefined ? {} : { status: "open,acknowledged" };
}
