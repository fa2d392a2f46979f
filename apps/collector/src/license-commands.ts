import { type Clock, createId } from "@lanthorn/runtime";
import type { Command } from "commander";
import { CollectorError } from "./errors.ts";
import { issueLicense } from "./services/license/issue.ts";

interface Options {
  readonly key: string;
  readonly licensee: string;
  readonly days?: string;
  readonly probes?: string;
  readonly devices?: string;
  readonly features?: readonly string[];
  readonly tenant?: string;
}

/** `license issue`: for whoever gives out licences, anywhere; it needs no collector. */
export function addLicenseCommands(
  program: Command, deps: { readonly clock: Pick<Clock, "now">; readonly print: (text: string) => void },
): void {
  program.command("license").description("licences, for who gives them out").command("issue")
    .description("signs a licence; collectors take it whose license.issuer_files names the key's public half")
    .requiredOption(
      "--key <file>", "Ed25519 private key: openssl genpkey -algorithm ed25519 -out FILE; public half: openssl pkey -in FILE -pubout",
    )
    .requiredOption("--licensee <name>", "who it is for")
    .option("--days <number>", "how long it is good; for ever without it")
    .option("--probes <number>", "how many probes it is for").option("--devices <number>", "how many devices it is for")
    .option("--features <names...>", "what it has beyond that").option("--tenant <id>", "the one tenant that it is good for")
    .action(async (options: Options) => {
      const { licensee, tenant, features = [] } = options;
      const iat = Math.floor(deps.clock.now() / 1000);
      const days = numberOf(options, "days");
      const probes = numberOf(options, "probes");
      const devices = numberOf(options, "devices");
      deps.print(await issueLicense({
        jti: createId(), sub: licensee, iat, features: [...features], ...(days !== undefined && { exp: iat + days * 86_400 }),
        ...(probes !== undefined && { probes }), ...(devices !== undefined && { devices }), ...(tenant !== undefined && { tenant }),
      }, options.key));
    });
}

function numberOf(options: Options, name: "days" | "probes" | "devices"): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || text === "0") {
    throw new CollectorError("admin-refused", `--${name}: ${JSON.stringify(text)} is not a number from 1 on`);
  }
  return Number(text);
}
