import { webcrypto } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import "reflect-metadata";
import { X509CertificateGenerator } from "@peculiar/x509";
import { openConnection } from "../connection.ts";
import type { ServiceFinding } from "../finding.ts";
import { identifyService } from "../identify.ts";

/** What a test's server does with each connection; its errors are ignored. */
export type OnConnection = (socket: Socket) => void;

/**
 * @returns What makes servers on loopback, each of one connection's manners, and closes them all with everything that was
 *   promised `later`.
 */
export function createTestServers() {
  const closers: (() => void)[] = [];
  return {
    later: (close: () => void) => void closers.push(close),
    closeAll: () => {
      for (const close of closers.splice(0)) close();
    },
    async serve(onConnection: OnConnection, make: (onConnection: OnConnection) => Server = createServer) {
      const sockets = new Set<Socket>();
      let connections = 0;
      const server = make((socket) => {
        sockets.add(socket);
        socket.on("error", () => undefined);
        onConnection(socket);
      });
      server.on("connection", () => (connections += 1));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      closers.push(() => {
        for (const socket of sockets) socket.destroy();
        server.close();
      });
      const address = server.address();
      return { port: typeof address === "object" && address ? address.port : 0, connections: () => connections };
    },
  };
}

/** As if the service were at `port`, while it is elsewhere. */
export function identifyAt(
  port: number, actual: number, signal: AbortSignal = new AbortController().signal,
): Promise<ServiceFinding | null> {
  return identifyService(
    { ip: "127.0.0.1", port, protocol: "tcp" },
    { random: () => 0.5, connect: (target, options) => openConnection({ ...target, port: actual }, options) }, signal,
  );
}

/** A TLS server's key and certificate in PEM. */
export interface Credentials {
  readonly key: string;
  readonly cert: string;
}

/** For `CN=nas.lab.test,O=Lab`, signed by itself. */
export async function createCredentials(): Promise<Credentials> {
  const keys = await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const notAfter = new Date(Date.now() + 86_400_000);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: "01", name: "CN=nas.lab.test,O=Lab", notAfter, keys, signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  return { key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`, cert: certificate.toString("pem") };
}
