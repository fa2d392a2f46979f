import { HONEYPOT_STAGES } from "@lanthorn/contract";
import { type Command, Option } from "commander";
import {
  exempt, type ExemptOptions, type HoneypotSessionsOptions, listExemptions, listHoneypotFiles, listHoneypots, listHoneypotSessions, proposeHoneypots, replayHoneypotSession, showHoneypotSession, testHoneypot, unexempt,
} from "../../commands/honeypot.ts";
import type { GroupDependencies } from "../group.ts";

const SITE = ["--site <site>", "at one site, by its name or id"] as const;

/** `honeypot …`. */
export function addHoneypotCommands(program: Command, { answering, clock }: GroupDependencies): void {
  const honeypot = program.command("honeypot").description("decoys: which there are, who touched them, and who may");
  answering(honeypot.command("list").description("list decoys and what they serve").option(...SITE), (connection, { site }: { site?: string }) => listHoneypots(connection, site));
  answering(
    honeypot.command("propose").description("propose decoys by what a site has most of, with the lines for decoy.toml").option(...SITE),
    (connection, { site }: { site?: string }) => proposeHoneypots(connection, site),
  );
  answering(
    honeypot.command("test <decoy>").description("have the probe try a decoy, by its name or id: whether it would alert").option(...SITE),
    (connection, name: string, { site }: { site?: string }) => testHoneypot(connection, name, site),
  );
  answering(
    honeypot.command("sessions").description("list what was done at decoys, the newest first").option(...SITE).option("--decoy <name>", "at one decoy").option("--source <ip>", "by one address")
      .addOption(new Option("--stage <stage>", "that went as far as this, and no further").choices(HONEYPOT_STAGES))
      .option("--since <when>", "from then on: 24h (ago) or 2026-11-20T08:00:00Z").option("--until <when>", "before then").option("--limit <count>", "at most this many, up to 1000", "50"),
    (connection, options: HoneypotSessionsOptions) => listHoneypotSessions(connection, options),
  );
  answering(honeypot.command("show <session>").description("show a session with each rise of it, by its id"), (connection, id: string) => showHoneypotSession(connection, id));
  answering(
    honeypot.command("replay <session>").description("show what was typed in a session's shells, without anything that a terminal would obey; needs vault:reveal, and the audit log records it. --json has the asciicast"),
    (connection, id: string) => replayHoneypotSession(connection, id),
  );
  answering(honeypot.command("files <session>").description("list files that were sent in a session, and documents of the decoy that were read"), (connection, id: string) => listHoneypotFiles(connection, id));
  answering(
    honeypot.command("exempt <addresses...>").description("let addresses or networks touch a site's decoys, as a scanner does").requiredOption("--name <name>", "by which their connections are counted")
      .requiredOption("--reason <text>", "why, for who reads it later").option("--site <site>", "the site, by its name or id; not needed where there is one").option("--ports <list>", "only at these ports: 80,443")
      .option("--hours <from-to>", "only at these hours of the probe's machine: 22:00-04:30").option("--expires <when>", "when it ends: 8h or 2026-12-31"),
    (connection, addresses: string[], options: ExemptOptions) => exempt(connection, addresses, options, clock.now()),
  );
  answering(honeypot.command("exempted").description("list who may touch decoys").option(...SITE), (connection, { site }: { site?: string }) => listExemptions(connection, site));
  answering(honeypot.command("unexempt <id>").description("end an exemption"), (connection, id: string) => unexempt(connection, id));
}
