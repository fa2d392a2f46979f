import type { License } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { type Input, readText } from "../input.ts";

/** The license that applies, its limits, and how much of them is used. */
export async function showLicense({ rest }: Connection): Promise<Answer> {
  return describe(await rest.readLicense());
}

/** @param file The license as its issuer sent it; `-` for standard input. */
export async function installLicense({ rest }: Connection, file: string, input: Pick<Input, "readAll">): Promise<Answer> {
  return describe(await rest.uploadLicense({ license: (await readText(file, input)).trim() }));
}

/** From then on the community license applies. */
export async function removeLicense({ rest }: Connection): Promise<Answer> {
  await rest.deleteLicense();
  return describe(await rest.readLicense());
}

function describe(license: License): Answer {
  const used = (what: "probes" | "devices") =>
    `${license.usage[what]} of ${license.limits[what] ?? "any number"}${license.exceeded.includes(what) ? ": more than licensed" : ""}`;
  return {
    json: license,
    table: {
      heading: ["STATUS", "LICENSEE", "PROBES", "DEVICES", "FEATURES", "UNTIL", "LICENSE"],
      rows: [[
        license.status, license.licensee ?? "-", used("probes"), used("devices"), license.features.join(" ") || "-",
        license.expires_at ?? "-", license.license_id ?? "-",
      ]],
    },
  };
}
