// PostgreSQL's start: SSLRequest, then TLS. Nobody starts a session, so that nothing is logged as a failed one.
// @see PostgreSQL documentation 55.2.10 and 55.7
import { claims, learned, type TcpProtocol, toText } from "../protocol.ts";

const SSL_REQUEST = Uint8Array.of(0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f);
/** Whether it offers TLS, and its certificate. It gives its version only after a login. */
export const postgresql: TcpProtocol = {
  name: "postgresql",
  ports: [5432, 5433],
  hello: () => SSL_REQUEST,
  ownPortsOnly: true,
  isWeak: true,
  recognise: (bytes) => (bytes.length === 1 && (bytes[0] === 0x53 || bytes[0] === 0x4e)
    ? "yes"
    : bytes[0] === 0x45 && toText(bytes, 128).includes("FATAL") ? "yes" : "no"),
  async learn(first, connection) {
    const offersTls = first[0] === 0x53;
    const tls = offersTls ? await connection.startTls({ timeoutMs: 3000, alpn: [] }) : null;
    return learned("postgresql", {
      claims: claims("postgresql", 0.9, {
        product: "PostgreSQL DB", vendor: "PostgreSQL", cpe: "cpe:2.3:a:postgresql:postgresql:*:*:*:*:*:*:*:*",
      }),
      banner: offersTls ? "offers TLS" : "offers no TLS",
      tls,
    });
  },
};
