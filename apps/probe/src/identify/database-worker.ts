// The thread that databases of fingerprints are read and asked in. It has nothing to do with the network.
import { parentPort, workerData } from "node:worker_threads";
import { FINGERPRINTS } from "../bundles/names.ts";
import { openBundleStore } from "../bundles/store.ts";
import type { DatabaseAnswer, DatabaseTask } from "./database-thread.ts";
import { createFingerprintDatabases } from "./databases.ts";

const { dataDir } = workerData as { readonly dataDir: string };
const store = openBundleStore(dataDir, FINGERPRINTS);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
const say = (answer: DatabaseAnswer) => parentPort?.postMessage(answer);
const databases = createFingerprintDatabases({
  version: () => store.versions().current,
  folder: () => store.wholeFolder(),
  warn: (about, message) => say({ kind: "warning", about, message }),
});

parentPort?.on("message", ({ id, query }: DatabaseTask) => say({ kind: "claims", id, claims: databases.consult(query) }));
