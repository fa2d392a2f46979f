import { type Command, Option } from "commander";
import { DNS_LIST_FORMATS, DNS_QUERY_LEVELS } from "@lanthorn/contract";
import {
  addDnsPolicy, addDnsRule, allowName, checkName, disallowName, type DnsPolicyOptions, type DnsScopeOptions, listAllowed, listDnsPolicies, listDnsRules, pauseFiltering, removeDnsPolicy, removeDnsRule, resumeFiltering, setPolicyMode,
} from "../../commands/dns.ts";
import { activateDnsVersion, addDnsList, type DnsListOptions, listDnsLists, listDnsVersions, removeDnsList, updateDnsList } from "../../commands/dns-lists.ts";
import { type DnsQueriesOptions, listDnsQueries, listQuerySettings, NO_WISH, setQuerySettings, showDnsStats } from "../../commands/dns-queries.ts";
import type { GroupDependencies } from "../group.ts";

/** `dns …`. */
export function addDnsCommands(program: Command, dependencies: GroupDependencies): void {
  const { answering, clock } = dependencies;
  const dns = program.command("dns").description("the filtering resolver: why a name is blocked, what is allowed, lists and policies");
  answering(
    dns.command("check <name>").description("show what is done with a name, and why").option("--device <device>", "for a device, by its name, address, MAC or id").option("--site <site>", "at a site, by its name or id")
      .option("--cname <names...>", "names that stand behind it in the answer").option("--type <number>", "the type that is asked for: 28 for AAAA"),
    (connection, name: string, options: { device?: string; site?: string; cname?: string[]; type?: string }) => checkName(connection, name, options),
  );
  answering(
    scoped(dns.command("allow <name>").description("allow a name for an hour, or longer")).option("--for <when>", "when it ends: 8h or 2026-12-31").option("--cname <names...>", "names that stand behind it in the answer: the one that lists block is allowed")
      .option("--reason <text>", "why, for who reads it later", ""),
    (connection, name: string, options: DnsScopeOptions & { for?: string; cname?: string[]; reason: string }) => allowName(connection, name, options, clock.now()),
  );
  answering(dns.command("allowed").description("list what is allowed for a while"), (connection) => listAllowed(connection));
  answering(dns.command("disallow <id>").description("end an allowance"), (connection, id: string) => disallowName(connection, id));
  answering(
    scoped(dns.command("pause").description("block nothing for ten minutes, or longer")).option("--for <when>", "when it ends: 30m or 2026-12-31").option("--reason <text>", "why, for who reads it later", ""),
    (connection, options: DnsScopeOptions & { for?: string; reason: string }) => pauseFiltering(connection, options, clock.now()),
  );
  answering(dns.command("resume").description("end all pauses"), (connection) => resumeFiltering(connection));
  const queries = dns.command("queries").description("what clients asked of resolvers, as far as those report it");
  answering(
    queries.command("list", { isDefault: true }).description("list it, the newest first").option("--site <site>", "at one site, by its name or id").option("--device <device>", "of a device, by its name, address, MAC or id")
      .option("--client <ip>", "of one address").option("--name <name>", "this name, and those below it").addOption(new Option("--action <action>", "what became of it").choices(["resolved", "blocked", "observed"]))
      .option("--since <when>", "from then on: 24h (ago) or 2026-11-20T08:00:00Z").option("--until <when>", "before then").option("--limit <count>", "at most this many, up to 1000", "50"),
    (connection, options: DnsQueriesOptions) => listDnsQueries(connection, options),
  );
  answering(queries.command("settings").description("list how much of it is reported and kept at each site"), (connection) => listQuerySettings(connection));
  answering(
    queries.command("set").description("decide how much of it is reported and kept at a site, at most").option("--site <site>", "the site, by its name or id, where there are several")
      .addOption(new Option("--level <level>", "what is reported: nothing, how many, also who asked for names that lists have, or for any").choices([...DNS_QUERY_LEVELS, NO_WISH])).option("--keep-days <days>", `how long it is kept, or ${NO_WISH}`),
    (connection, options: { site?: string; level?: string; keepDays?: string }) => setQuerySettings(connection, options),
  );
  answering(
    dns.command("stats").description("show how much was asked, and the names, clients and lists that were there most").option("--site <site>", "at one site, by its name or id")
      .option("--since <when>", "from then on, at most 7 days: 24h (ago) or 2026-11-20T08:00:00Z").option("--top <count>", "how many of each", "10"),
    (connection, options: { site?: string; since?: string; top: string }) => showDnsStats(connection, options),
  );
  addListCommands(dns, dependencies);
  addRuleCommands(dns, dependencies);
  addPolicyCommands(dns, dependencies);
}

function scoped(command: Command): Command {
  return command.option("--device <device>", "only for a device, by its name, address, MAC or id").option("--group <tag>", "only for devices with this tag").option("--site <site>", "only at one site, by its name or id")
    .option("--vlan <number>", "only in a VLAN of the site");
}

function addListCommands(dns: Command, { answering }: GroupDependencies): void {
  const lists = dns.command("lists").description("where names come from");
  answering(lists.command("list", { isDefault: true }).description("list block lists with the version that counts"), (connection) => listDnsLists(connection));
  answering(
    lists.command("add <name>").description("add a block list").option("--url <url>", "downloaded from here: text, or text packed by gzip; axfr://server/zone for a zone that is transferred").option("--checksum <url>", "where the MD5 or SHA-256 of the download is")
      .option("--tsig <file>", "a file here with the key for a zone: hmac-sha256:name:secret")
      .option("--file <name>", "a file in the collector's folder dns-lists").option("--names <file>", "a file here, whose names are sent").option("--category <word>", "what its names are: advertising, phishing, malware", "other")
      .addOption(new Option("--format <format>", "how it is written; found out if left out").choices(DNS_LIST_FORMATS)).option("--site <site>", "only for one site, by its name or id"),
    (connection, name: string, options: DnsListOptions) => addDnsList(connection, name, options),
  );
  answering(lists.command("update <name>").description("ask its source now"), (connection, name: string) => updateDnsList(connection, name));
  answering(lists.command("versions <name>").description("list its versions, and lines that were not understood"), (connection, name: string) => listDnsVersions(connection, name));
  answering(lists.command("activate <name> <version>").description("make a version count, also one that is held back"),
    (connection, name: string, version: string) => activateDnsVersion(connection, name, version));
  answering(lists.command("rollback <name>").description("go back to the version that was active before"), (connection, name: string) => activateDnsVersion(connection, name, undefined));
  answering(lists.command("remove <name>").description("delete it with its versions"), (connection, name: string) => removeDnsList(connection, name));
}

function addRuleCommands(dns: Command, { answering }: GroupDependencies): void {
  const rules = dns.command("rules").description("names that are blocked, allowed or protected by hand, for good");
  answering(rules.command("list", { isDefault: true }).description("list them"), (connection) => listDnsRules(connection));
  for (const [action, text] of [["block", "block a name"], ["allow", "let no list block a name"], ["protect", "hold back lists that would block a name"]] as const) {
    answering(
      scoped(rules.command(`${action} <name>`).description(text)).option("--exact", "not for the names below it", false).option("--reason <text>", "why, for who reads it later", ""),
      (connection, name: string, options: DnsScopeOptions & { exact: boolean; reason: string }) => addDnsRule(connection, action, name, options),
    );
  }
  answering(rules.command("delete <id>").description("delete one"), (connection, id: string) => removeDnsRule(connection, id));
}

function addPolicyCommands(dns: Command, { answering }: GroupDependencies): void {
  const policies = dns.command("policies").description("for whom which lists count");
  answering(policies.command("list", { isDefault: true }).description("list policies"), (connection) => listDnsPolicies(connection));
  answering(
    scoped(policies.command("add <name>").description("add a policy; of several, the one for the fewest clients counts")).option("--observe", "only say what would be blocked", false)
      .addOption(new Option("--answer <kind>", "how blocked names are answered").choices(["nxdomain", "zero", "nodata", "refused"]).default("nxdomain")).option("--category <words...>", "only lists of these categories"),
    (connection, name: string, options: DnsPolicyOptions) => addDnsPolicy(connection, name, options),
  );
  answering(policies.command("enforce <name>").description("block what its lists have"), (connection, name: string) => setPolicyMode(connection, name, "enforce"));
  answering(policies.command("observe <name>").description("only say what would be blocked"), (connection, name: string) => setPolicyMode(connection, name, "observe"));
  answering(policies.command("delete <name>").description("delete it"), (connection, name: string) => removeDnsPolicy(connection, name));
}
