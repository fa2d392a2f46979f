import { GUARD_KINDS } from "@lanthorn/contract";
import { type Command, Option } from "commander";
import { showCoverage } from "../../commands/coverage.ts";
import { allow, type AllowOptions, disallow, learnGuards, listExceptions, showGuards } from "../../commands/guards.ts";
import { GUARD_SETTING_FORMS, setGuards } from "../../commands/guards-set.ts";
import type { GroupDependencies } from "../group.ts";

const SITE = ["--site <site>", "the site's name or id; may be left out where there is only one"] as const;

/** `guards …` and `coverage`. */
export function addGuardCommands(program: Command, { answering, clock }: GroupDependencies): void {
  const guards = program.command("guards").description("detectors of attacks on the network: false DHCP servers, ARP spoofing and the like");
  answering(
    guards.command("status").description("show whether a site's probes watch, whether they still learn what is normal, and what is set for them").option(...SITE),
    (connection, { site }: { site?: string }) => showGuards(connection, site, clock.now()),
  );
  answering(
    guards.command("learn").description("have a site's probes learn anew what is normal, as after a change of the network; what they learned before stays")
      .option(...SITE),
    (connection, { site }: { site?: string }) => learnGuards(connection, site, clock.now()),
  );
  answering(
    guards.command("set <setting...>").description("change what a site's guards watch by, as NAME=VALUE; what is not named stays").option(...SITE)
      .addHelpText("after", `
Settings:
${GUARD_SETTING_FORMS}

Examples:
  lanthorn guards set enabled=on active=on
  lanthorn guards set dhcp_servers=10.0.0.2,10.0.0.3 routers=10.0.0.1 --site "Store 12"
  lanthorn guards set learning_minutes=1440 quiet_seconds=default`),
    (connection, settings: readonly string[], { site }: { site?: string }) => setGuards(connection, settings, site, clock.now()),
  );
  answering(
    guards.command("allow").description("do not report something that is right; all that you give must match")
      .addOption(new Option("--kind <kind>", "what is not reported; any kind if left out").choices(GUARD_KINDS))
      .option("--ip <address>", "the address that the alert names, or a network: 10.0.0.7, 10.0.0.0/28").option("--mac <mac>", "the MAC address that the alert names")
      .requiredOption("--reason <text>", "why it is right, for who reads it later")
      .option("--expires <when>", "when it ends: 8h, 30d or 2026-12-31; no end if left out").option(...SITE)
      .addHelpText("after", `
Examples:
  lanthorn guards allow --kind dhcp_server --ip 10.0.0.2 --reason "second DHCP server, failover pair"
  lanthorn guards allow --kind arp_spoofing --ip 10.0.0.16/28 --mac 00:00:5e:00:01:07 --reason "firewall cluster"
  lanthorn guards allow --mac 00:1b:21:aa:bb:07 --reason "penetration test" --expires 8h`),
    (connection, options: AllowOptions) => allow(connection, options, clock.now()),
  );
  answering(
    guards.command("exceptions").description("list what is allowed, with reason, author and end").option(...SITE),
    (connection, { site }: { site?: string }) => listExceptions(connection, site),
  );
  answering(
    guards.command("disallow <id>").description("delete an exception: what it allowed is reported again").option(...SITE),
    (connection, id: string, { site }: { site?: string }) => disallow(connection, id, site),
  );
  answering(
    program.command("coverage").description("show what a site's probes can see of the network, for what the detectors are therefore blind, and what to change")
      .option(...SITE),
    (connection, { site }: { site?: string }) => showCoverage(connection, site),
  );
}
