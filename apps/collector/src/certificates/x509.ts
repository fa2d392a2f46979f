// The library asks for Reflect metadata before it is loaded, so this is the one place that imports it.
// oxlint-disable-next-line import/no-unassigned-import
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

// Node's own implementation: keys never leave OpenSSL.
x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);

export { x509 };
