import { existsSync } from "node:fs";
import { createListSharing, type ListSharing } from "../../../dns-lists/list-sharing.ts";
import type { RoundContext } from "../round-context.ts";

/** @returns Null where no resolver is installed beside the probe: then no lists are fetched. */
export function openDnsLists({ configuration, replay, clock, log, lifecycle }: RoundContext): ListSharing | null {
  const { directory } = configuration.dns;
  if (directory === null || replay !== null || !existsSync(directory)) return null;
  const sharing = createListSharing({ dataDir: configuration.data_dir, directory, clock, log });
  lifecycle.onClose("block lists", () => sharing.close());
  return sharing;
}
