import { BASELINE_FACTS, BASELINE_STATES, DIFFERENCE_STATES } from "@lanthorn/contract";
import { type Command, Option } from "commander";
import { acceptDifference, type AcceptOptions, deleteAcceptance, listAcceptances, listDifferences } from "../commands/baseline-differences.ts";
import {
  createTemplate, createWindow, deleteTemplate, deleteWindow, listTemplates, listWindows, type TemplateOptions, type WindowOptions,
} from "../commands/baseline-settings.ts";
import {
  approveBaseline, editBaseline, freezeBaseline, listBaselines, resetBaseline, showBaseline, unfreezeBaseline,
} from "../commands/baselines.ts";
import { findDeviceId } from "../device-id.ts";
import { siteFilter } from "../site-id.ts";
import type { GroupDependencies } from "./group.ts";

const SITE = ["--site <site>", "of one site, by its name or id"] as const;
const ONE_SITE = ["--site <site>", "the site's name or id; may be left out where there is only one"] as const;
const DEVICE = ["--device <device>", "of a device, by its name, address, MAC or id, in place of a site"] as const;
const REASON = ["--reason <text>", "why it is right, for who reads it later"] as const;
const ALL_DEVICES = ["--all-devices", "do the same with the baselines of all devices of the site"] as const;
const KINDS = `of these kinds, with commas: ${BASELINE_FACTS.join(", ")}`;

interface Of {
  readonly device?: string;
}

/** `baselines …`. */
export function addBaselineCommands(program: Command, deps: GroupDependencies): void {
  const baselines = program.command("baselines").description("what is normal of sites and devices, and what differs from it");
  addReading(baselines, deps);
  addJudging(baselines, deps);
  addAcceptances(baselines, deps);
  addTemplates(baselines, deps);
  addWindows(baselines, deps);
}

function addReading(baselines: Command, { answering }: GroupDependencies): void {
  answering(
    baselines.command("list").description("list the baselines of sites and devices: how many facts each has, and how many differences are open").option(...SITE)
      .addOption(new Option("--of <which>", "only those of sites, or of devices").choices(["site", "device"]))
      .option("--state <states>", `in these states, with commas: ${BASELINE_STATES.join(", ")}`),
    async (connection, { site, ...filters }: { site?: string; of?: string; state?: string }) =>
      listBaselines(connection, { ...filters, ...await siteFilter(connection.rest, site) }),
  );
  answering(
    baselines.command("show [site]").description("show the baseline of a site or of a device, with its facts; the site may be left out where there is only one")
      .option(...DEVICE).option("--kind <kinds>", KINDS),
    (connection, site: string | undefined, { device, kind }: Of & { kind?: string }) => showBaseline(connection, { site, device }, kind),
  );
  answering(
    baselines.command("diff").description("list what differs from the baselines, before and now; by default what is open").option(...SITE).option(...DEVICE)
      .option("--kind <kinds>", KINDS).option("--state <states>", `in these states, with commas: ${DIFFERENCE_STATES.join(", ")}`, "open")
      .option("--all", "in every state", false),
    async (connection, { site, device, kind, state, all }: Of & { site?: string; kind?: string; state: string; all: boolean }) => listDifferences(connection, {
      ...await siteFilter(connection.rest, site), ...(device !== undefined && { device_id: await findDeviceId(connection.rest, device) }), kind,
      state: all ? DIFFERENCE_STATES.join(",") : state,
    }),
  );
}

function addJudging(baselines: Command, { answering }: GroupDependencies): void {
  answering(
    baselines.command("approve [site]").description("say that a baseline is right; one that learns begins to be compared").option(...DEVICE)
      .option("--take-differences", "make what differs now part of the baseline", false).option(...ALL_DEVICES, false).option(...REASON),
    (connection, site: string | undefined, { device, ...options }: Of & Parameters<typeof approveBaseline>[2]) => approveBaseline(connection, { site, device }, options),
  );
  answering(
    baselines.command("freeze [site]").description("let nothing become part of a baseline by itself").option(...DEVICE),
    (connection, site: string | undefined, { device }: Of) => freezeBaseline(connection, { site, device }),
  );
  answering(
    baselines.command("unfreeze [site]").description("let a frozen baseline take up again what is looked at for the first time").option(...DEVICE),
    (connection, site: string | undefined, { device }: Of) => unfreezeBaseline(connection, { site, device }),
  );
  answering(
    baselines.command("reset [site]").description("forget all facts of a baseline, and learn again").option(...DEVICE)
      .option("--learn <minutes>", "for how many minutes it learns; 0: only what is known now", "1440").option(...ALL_DEVICES, false).requiredOption(...REASON),
    (connection, site: string | undefined, { device, ...options }: Of & Parameters<typeof resetBaseline>[2]) => resetBaseline(connection, { site, device }, options),
  );
  answering(
    baselines.command("edit [site]").description("set and remove facts of a baseline by hand").option(...DEVICE)
      .option("--set <facts...>", "facts to add or change: KIND/KEY=VALUE").option("--remove <facts...>", "facts to remove: KIND/KEY").requiredOption(...REASON)
      .addHelpText("after", `
Examples:
  lanthorn baselines edit "Store 12" --set gateway/10.0.0.1=00:1b:21:aa:bb:07 --reason "the new firewall"
  lanthorn baselines edit --device nas --set port/tcp/443=open --remove port/tcp/80 --reason "https only"`),
    (connection, site: string | undefined, { device, ...options }: Of & Parameters<typeof editBaseline>[2]) => editBaseline(connection, { site, device }, options),
  );
}

function addAcceptances(baselines: Command, { answering, clock }: GroupDependencies): void {
  answering(
    baselines.command("accept <difference>").description("say that a difference is right: it and its alert end")
      .addOption(new Option("--for <whom>", "for whom it is right").choices(["device", "group", "site"]).default("device"))
      .option("--tag <tag>", "the tag of the group's devices").option("--until <when>", "when it is no longer right: 8h, 30d or 2026-12-31; no end if left out")
      .requiredOption(...REASON).addHelpText("after", `
The difference is named by its id, or by the end of it that \`lanthorn baselines diff\` shows.

Examples:
  lanthorn baselines accept 5f3a9c01d2e4 --reason "the new monitoring agent"
  lanthorn baselines accept 5f3a9c01d2e4 --for group --tag web --reason "https on all web servers" --until 30d`),
    (connection, id: string, options: AcceptOptions) => acceptDifference(connection, id, options, clock.now()),
  );
  const acceptances = baselines.command("acceptances").description("differences that were accepted");
  answering(
    acceptances.command("list").description("list what was accepted: for whom, until when, why and by whom").option(...SITE),
    async (connection, { site }: { site?: string }) => listAcceptances(connection, await siteFilter(connection.rest, site)),
  );
  answering(
    acceptances.command("delete <id>").description("take an acceptance back: what still differs is reported again"),
    (connection, id: string) => deleteAcceptance(connection, id),
  );
}

function addTemplates(baselines: Command, { answering }: GroupDependencies): void {
  const templates = baselines.command("templates").description("ports and services that all devices with a tag are to have");
  answering(
    templates.command("list").description("list the templates").option(...SITE),
    async (connection, { site }: { site?: string }) => listTemplates(connection, await siteFilter(connection.rest, site)),
  );
  answering(
    templates.command("create <name>").description("add a template, from facts or from a device that is as all should be")
      .requiredOption("--tag <tag>", "it counts for devices with this tag").option("--from <device>", "a device whose baseline has the facts")
      .option("--fact <facts...>", "facts: KIND/KEY=VALUE").option("--site <site>", "it counts at this site only").addHelpText("after", `
Examples:
  lanthorn baselines templates create "Web servers" --tag web --fact port/tcp/443=open "service/tcp/443=https nginx"
  lanthorn baselines templates create Printers --tag printer --from printer-3`),
    (connection, name: string, options: TemplateOptions) => createTemplate(connection, name, options),
  );
  answering(
    templates.command("delete <name>").description("delete a template, by its name or id"),
    (connection, name: string) => deleteTemplate(connection, name),
  );
}

function addWindows(baselines: Command, { answering, clock }: GroupDependencies): void {
  const windows = baselines.command("windows").description("maintenance windows, in which differences are not reported");
  answering(
    windows.command("list").description("list the windows that are not over").option(...SITE),
    async (connection, { site }: { site?: string }) => listWindows(connection, await siteFilter(connection.rest, site)),
  );
  answering(
    windows.command("create").description("add a window for a site, for one of its devices, or for its devices with a tag").option(...ONE_SITE)
      .option("--device <device>", "only for a device, by its name, address, MAC or id").option("--tag <tag>", "only for devices with this tag")
      .option("--from <when>", "when it begins: 2h or 2026-12-31T18:00:00Z; now if left out")
      .requiredOption("--until <when>", "when it ends, within 366 days: 4h or 2026-12-31T22:00:00Z")
      .option("--learn", "make what differs in it part of the baseline; else what still differs is reported afterwards", false)
      .requiredOption("--reason <text>", "what is done in it").addHelpText("after", `
Examples:
  lanthorn baselines windows create --site "Store 12" --until 4h --reason "new switches"
  lanthorn baselines windows create --tag web --from 2026-12-31T18:00:00Z --until 2026-12-31T22:00:00Z --learn --reason "update of nginx"`),
    (connection, options: WindowOptions) => createWindow(connection, options, clock.now()),
  );
  answering(
    windows.command("delete <id>").description("delete a window: what still differs is reported"),
    (connection, id: string) => deleteWindow(connection, id),
  );
}
