import { readFileSync } from "node:fs";
import { join } from "node:path";
import { IDS_BUNDLE_FILES, type IdsState, readIdsSuppressions } from "@lanthorn/contract/uplink";
import { describeError, toInstant } from "@lanthorn/runtime";
import { INTRUSION_RULES } from "../../bundles/names.ts";
import { openBundleStore } from "../../bundles/store.ts";
import { subnetsOf } from "../../capture/link.ts";
import { createEveIntake } from "../../eve/eve-intake.ts";
import { toSuricataState } from "../../eve/eve-state.ts";
import { createPositionStore } from "../../eve/position-store.ts";
import { createHomeNetworks } from "../../intrusions/home-networks.ts";
import { toIdsState } from "../../intrusions/ids-state.ts";
import { IntrusionData } from "../../intrusions/intrusion.ts";
import { createIntrusions, type Intrusions as Register } from "../../intrusions/intrusions.ts";
import { createSuppressions } from "../../intrusions/suppressions.ts";
import { createOngoingStore } from "../../ongoing/ongoing-store.ts";
import { createPublisher } from "../../queue/publisher.ts";
import type { Queue } from "./open-queue.ts";
import type { Traffic } from "./open-traffic.ts";
import type { Watch } from "./open-watch.ts";
import type { RoundContext } from "./round-context.ts";

/** What engines of intrusion detection find, of our own and beside the probe. */
export interface Intrusions extends Pick<Register, "report"> {
  /** Other rules are installed, and other suppressions with them. */
  rulesChanged(): void;
  state(): IdsState;
}

/** Loaded only where something can find intrusions. */
export function openIntrusions(
  { configuration, clock, log, lifecycle }: RoundContext, { db, outbox }: Queue, { watch, traffic }: { readonly watch: Pick<Watch, "lan" | "discovery">; readonly traffic: Traffic | null },
): Intrusions {
  const { home_networks: named, eve: paths } = configuration.ids;
  const since = toInstant(clock.now());
  const suppressions = createSuppressions({ macAt: (ip) => watch.discovery.macAt(ip), now: () => clock.now() });
  const takeSuppressions = () => {
    try {
      const { current } = openBundleStore(configuration.data_dir, INTRUSION_RULES).versions();
      if (current === null) return suppressions.take([]);
      const list = readIdsSuppressions(readFileSync(join(configuration.data_dir, INTRUSION_RULES, current, IDS_BUNDLE_FILES.suppressions)));
      if (list) suppressions.take(list);
    } catch (error) {
      log.warn({ reason: describeError(error) }, "the suppressions of intrusion rules cannot be read; those before hold");
    }
  };
  takeSuppressions();
  const register = createIntrusions({
    publisher: createPublisher({ db, outbox, log, what: "intrusions" }), store: createOngoingStore(db, "intrusions", IntrusionData),
    isInternal: createHomeNetworks(named, () => subnetsOf(watch.lan.facts())), suppressionOf: suppressions.find, clock,
  });
  lifecycle.onClose("intrusions", () => register.close());
  const eve = paths.file === null && paths.socket === null ? null
    : createEveIntake({ paths, positions: createPositionStore(db), report: (finding) => register.report(finding), clock, log });
  if (eve) lifecycle.onClose("EVE intake", () => eve.close());
  return {
    report: (finding) => register.report(finding),
    rulesChanged: takeSuppressions,
    state: () => toIdsState({ rules: traffic?.rules() ?? null, counts: register.counts(), suricata: eve && toSuricataState(eve.state(), clock.now()), since }),
  };
}
