import { join } from "node:path";
import { DEFAULT_CAPTURE_SETTINGS } from "@lanthorn/contract/uplink";
import { bundlesPart } from "../../bundles/settings.ts";
import { credentialsPart } from "../../credentials/settings.ts";
import { decoysPart } from "../../decoy/link/settings.ts";
import { guardsPart } from "../../detect/settings.ts";
import { egressPart } from "../../egress/settings.ts";
import { anomaliesPart } from "../../traffic/anomalies/settings.ts";
import { capturePart } from "../../traffic/settings.ts";
import { createSiteConfiguration, type SiteConfiguration, siteModule } from "../../uplink/site-configuration.ts";
import type { DecoyLink } from "./open-decoy-link.ts";
import type { Watch } from "./open-watch.ts";
import type { Traffic } from "./open-traffic.ts";
import type { RoundContext } from "./round-context.ts";
import type { Transfers } from "./transfers.ts";

/** What the collector can set of this probe: module → its part of the configuration → how it takes a change. Another part is another row. */
export function siteModules({ watch, transfers, traffic, decoys }: {
  readonly watch: Pick<Watch, "discovery" | "guards" | "credentials" | "onCredentials">;
  readonly transfers: Pick<Transfers, "bundles"> | null;
  readonly traffic: Pick<Traffic, "configure" | "acceptAnomalies"> | null;
  readonly decoys: Pick<DecoyLink, "exempt" | "sealFor"> | null;
}) {
  return [
    siteModule({ name: "egress", part: egressPart, refuses: "all", take: (part) => watch.discovery.configure(part) }),
    siteModule({
      name: "credentials", part: credentialsPart, refuses: "part",
      async take({ credentials }) {
        const wrong = await watch.credentials.take(credentials);
        if (wrong === null) watch.onCredentials();
        return wrong;
      },
    }),
    siteModule({
      name: "guards", part: guardsPart, refuses: "part",
      take({ guards }) {
        watch.guards.configure(guards);
        return null;
      },
    }),
    siteModule({
      name: "bundles", part: bundlesPart, refuses: "part",
      take({ bundles }) {
        transfers?.bundles.announced(bundles ?? []);
        return null;
      },
    }),
    siteModule({
      name: "traffic", part: capturePart, refuses: "part",
      take({ capture }) {
        traffic?.configure(capture ?? DEFAULT_CAPTURE_SETTINGS);
        return null;
      },
    }),
    siteModule({
      name: "anomalies", part: anomaliesPart, refuses: "part",
      take({ anomalies }) {
        traffic?.acceptAnomalies(anomalies);
        return null;
      },
    }),
    siteModule({
      name: "decoys", part: decoysPart, refuses: "part",
      take({ decoys: pushed, password_key: key }) {
        decoys?.sealFor(key);
        decoys?.exempt(pushed?.exemptions ?? []);
        return null;
      },
    }),
  ] as const;
}

/** The collector's configuration, taken by the modules of the table. @param parts.onState It is another, or is wrong. */
export function openSiteConfiguration(
  { configuration, log }: Pick<RoundContext, "configuration" | "log">,
  parts: Parameters<typeof siteModules>[0] & { readonly onState: () => void },
): SiteConfiguration {
  return createSiteConfiguration({
    path: join(configuration.data_dir, "site-configuration.json"), modules: siteModules(parts), log, onState: parts.onState,
  });
}
