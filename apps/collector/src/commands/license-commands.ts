import { type Clock, createId } from "@lanthorn/runtime";
import type { Command } from "commander";
import { CollectorError } from "../errors.ts";
import { issueLicense } from "../services/license/issue.ts";

interface Options {
  readonly key: string;
  readonly licensee: string;
  readonly days?: string;
  readonly probes?: string;
  readonly devices?: string;
  readonly features?: readonly string[];
  readonly tenant?: string;
}

/** `license issue`: for whoever gives out licenses, anywhere; it needs no collector. */
export function addLicenseCommands(
  program: Command, deps: { readonly clock: Pick<Clock, "now">; readonly print: (text: string) => void },
): void {
  program.command("license").description("licenses, for issuers").command("issue")
    .description("signs a license; collectors whose license.issuer_files lists the public key accept it")
    .requiredOption(
      "--key <file>", "Ed25519 private key: openssl genpkey -algorithm ed25519 -out FILE; public half: openssl pkey -in FILE -pubout",
    )
    .requiredOption("--licensee <name>", "the licensee")
    .option("--days <number>", "how long it is valid; unlimited if left out")
    .option("--probes <number>", "the number of licensed probes").option("--devices <number>", "the number of licensed devices")
    .option("--features <names...>", "licensed features").option("--tenant <id>", "the only tenant that it is valid for")
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
