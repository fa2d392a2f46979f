import { type Command, Option } from "commander";
import {
  activateVersion, addRuleset, listIdsSuppressions, listRules, listRulesets, listVersions, type NetworksOptions, removeRuleset, type RuleOptions, type RulesetOptions, showIdsStats, showRule, siteNetworks,
  suppressAlerts, type SuppressOptions, unsuppressAlerts, updateRuleset,
} from "../../commands/ids.ts";
import { testRule, type TestOptions } from "../../commands/ids-test.ts";
import type { GroupDependencies } from "../group.ts";

/** `ids …`. */
export function addIdsCommands(program: Command, dependencies: GroupDependencies): void {
  const { answering, clock, input } = dependencies;
  const ids = program.command("ids").description("intrusion detection: rules, what is suppressed, and what matches most");
  answering(
    ids.command("rules").description("list rules as they count").option("--sid <number>", "of this number: 2010935 or 3:2010935").option("--search <text>", "by a part of their text")
      .option("--category <category>", "of a category, class or file: \"ET MALWARE\"").option("--technique <id>", "that name an ATT&CK technique: T1071")
      .addOption(new Option("--state <state>", "in this state").choices(["enabled", "disabled", "refused", "modified"])).option("--site <site>", "as they count at a site, by its name or id")
      .option("--limit <count>", "at most this many, up to 1000", "50"),
    (connection, options: RuleOptions) => listRules(connection, options),
  );
  answering(ids.command("rule <number>").description("show a rule: its text, whether it counts and why not").option("--site <site>", "as it counts at a site, by its name or id"),
    (connection, number: string, options: { site?: string }) => showRule(connection, number, options.site));
  answering(ids.command("stats").description("show what matches most, what may be suppressed, and how the probes' engines are").option("--site <site>", "of one site, by its name or id")
    .option("--days <count>", "of how many days, up to 90", "7"), (connection, options: { site?: string; days: string }) => showIdsStats(connection, options));
  answering(
    ids.command("suppress").description("keep alerts silent, and count them. All that you give must match").option("--sid <number>", "a rule: 2010935 or 3:2010935")
      .option("--category <category>", "a category or class: \"ET SCAN\"").option("--source <network>", "packets from an address or network")
      .option("--destination <network>", "packets to an address or network").option("--network <network>", "an address or network at either end")
      .option("--device <device>", "a device at either end, by its name, address, MAC or id").option("--site <site>", "at one site, by its name or id")
      .requiredOption("--reason <text>", "why, for who reads it later").option("--expires <when>", "when it ends: 90d or 2026-12-31; it has no end if left out"),
    (connection, options: SuppressOptions) => suppressAlerts(connection, options, clock.now()),
  );
  answering(ids.command("suppressions").description("list what is silent, how often it fitted, until when and why"), (connection) => listIdsSuppressions(connection));
  answering(ids.command("unsuppress <id>").description("end a suppression: what it hid is reported again"), (connection, id: string) => unsuppressAlerts(connection, id));
  answering(
    ids.command("test [file]").description("try a rule on a capture: where it matches, or which part of it does not. The capture is a pcap or pcapng file, or a stored one")
      .option("--rule <file>", "the last rule of a file, with those before it; - for standard input").option("--sid <number>", "a rule of the active rule sets: 2010935 or 3:2010935")
      .option("--site <site>", "as it counts at a site, by its name or id").option("--pcap <id>", "a stored capture instead of a file").option("--reason <text>", "why the stored capture is read"),
    (connection, file: string | undefined, options: TestOptions) => testRule(connection, file, options, input),
  );
  answering(
    ids.command("networks <site>").description("show which networks rules take for a site's own, $HOME_NET, or name them").option("--set <network...>", "these networks and no others: 192.0.2.0/24 2001:db8::/32")
      .option("--reset", "by the address plan, or as the probes know it", false),
    (connection, site: string, options: NetworksOptions) => siteNetworks(connection, site, options),
  );
  addRulesetCommands(ids, dependencies);
}

function addRulesetCommands(ids: Command, { answering }: GroupDependencies): void {
  const rulesets = ids.command("rulesets").description("where rules come from");
  answering(rulesets.command("list", { isDefault: true }).description("list rule sets with the version that counts"), (connection) => listRulesets(connection));
  answering(
    rulesets.command("add <name>").description("add a rule set").option("--url <url>", "downloaded from here, as published: a .tar.gz, or a file of rules")
      .option("--checksum <url>", "where the MD5 or SHA-256 of the download is").option("--file <name>", "a file in the collector's folder ids-rules")
      .option("--rules <file>", "a file here, whose rules are sent").option("--site <site>", "only for one site, by its name or id"),
    (connection, name: string, options: RulesetOptions) => addRuleset(connection, name, options),
  );
  answering(rulesets.command("update <name>").description("ask its source now"), (connection, name: string) => updateRuleset(connection, name));
  answering(rulesets.command("versions <name>").description("list its versions and how they differ"), (connection, name: string) => listVersions(connection, name));
  answering(rulesets.command("activate <name> <version>").description("make a version count, also one that is held back"),
    (connection, name: string, version: string) => activateVersion(connection, name, version));
  answering(rulesets.command("rollback <name>").description("go back to the version that was active before"), (connection, name: string) => activateVersion(connection, name, undefined));
  answering(rulesets.command("delete <name>").description("delete it with its versions"), (connection, name: string) => removeRuleset(connection, name));
}
