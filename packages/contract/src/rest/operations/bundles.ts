import * as z from "zod";
import { BundleName, BundlePieceQuery, SignedBundle } from "../../uplink/bundles.ts";
import { Sha256 } from "../../uplink/files.ts";
import { PublishedBundle } from "../agents.ts";
import { PageQuery, listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";

const OfBundle = z.object({ bundle_name: BundleName });
const OfSha256 = z.object({ bundle_name: BundleName, sha256: Sha256 });

/** What probes are given: signed bundles. */
export const bundlesOperations = operations({
  listBundles: { target: "GET /agents/bundles", query: PageQuery, status: 200, answer: listEnvelope(PublishedBundle) },
  /** With a probe's own certificate; likewise `readBundlePart`. */
  readBundle: { target: "GET /agents/bundles/{bundle_name}", params: OfBundle, status: 200, answer: SignedBundle },
  /** A piece of a part, from `offset` of it on. */
  readBundlePart: {
    target: "GET /agents/bundles/{bundle_name}/parts/{sha256}", params: OfSha256, query: BundlePieceQuery, status: 200,
    content: "application/octet-stream",
  },
});
