import { ADDRESS_STATUSES, PREFIX_STATUSES } from "@lanthorn/contract";
import { Argument, type Command, Option } from "commander";
import { listConflicts, listPrefixes, takeAddress, takePrefix } from "../commands/ipam.ts";
import {
  type AddressOptions, createAddress, createPrefix, deleteAddress, deletePrefix, exportRecords, importRecords, listAddresses,
  type PrefixOptions, showPrefix, updateAddress, updatePrefix,
} from "../commands/ipam-records.ts";
import { siteFilter } from "../site-id.ts";
import type { GroupDependencies } from "./group.ts";

const prefixOptions = (command: Command) => command.option("--vlan <id>", "its VLAN", Number).option("--name <name>", "its name")
  .option("--description <text>", "its description")
  .addOption(new Option("--status <status>", "its status").choices(PREFIX_STATUSES));
const addressOptions = (command: Command) => command.option("--mac <mac>", "the MAC that should use it; any other is a conflict")
  .option("--hostname <name>", "its host name").option("--description <text>", "its description")
  .addOption(new Option("--status <status>", "its status").choices(ADDRESS_STATUSES));
const OF_SITE = ["--site <site>", "of one site, by its name or id"] as const;
const SITE = ["--site <site>", "the site's name or id; all sites if left out"] as const;
const whatArgument = () => new Argument("<what>", "which list").choices(["prefixes", "addresses"]);

/** `ipam …`: prefixes and addresses, planned and observed. */
export function addIpamCommands(program: Command, deps: GroupDependencies): void {
  const ipam = program.command("ipam").description("prefixes and addresses, planned and observed");
  addPrefixCommands(ipam, deps);
  addAddressCommands(ipam, deps);
  const { answering, input } = deps;
  answering(
    ipam.command("conflicts").description("list conflicts between the plan and the network").option(...OF_SITE)
      .option("--kind <kind>", "wrong_mac, duplicate_address …"),
    async (connection, options: { site?: string; kind?: string }) =>
      listConflicts(connection, { ...await siteFilter(connection.rest, options.site), kind: options.kind }),
  );
  answering(
    ipam.command("export").description("export a list as CSV").addArgument(whatArgument()),
    (connection, what: "prefixes" | "addresses") => exportRecords(connection, what),
  );
  answering(
    ipam.command("import").description("import a list from CSV, as export prints it: all lines or none").addArgument(whatArgument())
      .argument("<file>", "- for standard input").option("--dry-run", "only report what would be done", false),
    (
      connection, what: "prefixes" | "addresses", file: string, options: { dryRun: boolean },
    ) => importRecords(connection, what, file, options, input),
  );
}

function addPrefixCommands(ipam: Command, { answering }: GroupDependencies): void {
  answering(
    ipam.command("prefixes").description("list the prefixes").option(...OF_SITE)
      .option("--within <network>", "only those in a network")
      .option("--search <text>", "by prefix, name or description"),
    async (connection, options: { site?: string; within?: string; search?: string }) =>
      listPrefixes(connection, { ...await siteFilter(connection.rest, options.site), within: options.within, search: options.search }),
  );
  answering(
    ipam.command("show-prefix <prefix>").description("show a prefix and its utilization"),
    (connection, prefix: string) => showPrefix(connection, prefix),
  );
  answering(
    prefixOptions(ipam.command("create-prefix <prefix>").description("record a prefix: 10.0.0.0/24")).option(...SITE),
    (connection, prefix: string, options: PrefixOptions) => createPrefix(connection, prefix, options),
  );
  answering(
    prefixOptions(ipam.command("update-prefix <prefix>").description("change one, given itself or its id; options left out stay")),
    (connection, prefix: string, options: PrefixOptions) => updatePrefix(connection, prefix, options),
  );
  answering(
    ipam.command("delete-prefix <prefix>").description("delete one; the records in it stay"),
    (connection, prefix: string) => deletePrefix(connection, prefix),
  );
  answering(
    ipam.command("next-prefix <prefix>").description("take the next free part of a prefix")
      .requiredOption("--length <bits>", "the length of its prefix", Number)
      .option("--name <name>", "its description"),
    (connection, prefix: string, options: { length: number; name?: string }) => takePrefix(connection, prefix, options),
  );
}

function addAddressCommands(ipam: Command, { answering }: GroupDependencies): void {
  answering(
    ipam.command("addresses").description("list the recorded addresses").option(...OF_SITE)
      .option("--within <network>", "only those in a network").option("--status <status>", "status, several with commas")
      .option("--search <text>", "by address, hostname or description"),
    async (connection, options: { site?: string; within?: string; status?: string; search?: string }) => listAddresses(connection, {
      ...await siteFilter(connection.rest, options.site), within: options.within, status: options.status, search: options.search,
    }),
  );
  answering(
    addressOptions(ipam.command("create-address <ip>").description("record an address")).option(...SITE),
    (connection, ip: string, options: AddressOptions) => createAddress(connection, ip, options),
  );
  answering(
    addressOptions(ipam.command("update-address <address>").description("change one, given itself or its id; options left out stay")),
    (connection, address: string, options: AddressOptions) => updateAddress(connection, address, options),
  );
  answering(
    ipam.command("delete-address <address>").description("delete one"), (connection, address: string) => deleteAddress(connection, address),
  );
  answering(
    ipam.command("next-address <prefix>").description("take the next free address of a prefix").option("--hostname <name>", "its host name")
      .option("--reserve", "keep it for later", false),
    (connection, prefix: string, options: { hostname?: string; reserve: boolean }) => takeAddress(connection, prefix, options),
  );
}
