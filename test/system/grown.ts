import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DebianRoot } from "../lab/debian-packages.ts";
import { type PostgresServer, startPostgres } from "../lab/postgres.ts";
import { runCommand } from "../lab/run-command.ts";
import { type Collector, COLLECTOR, startCollector } from "./deployment.ts";
import { findFreePort } from "../lab/free-port.ts";
import { type Mosquitto, startMosquitto } from "./mosquitto.ts";

/** Several collectors on one PostgreSQL and one mosquitto, each a process of its own with its own data directory. */
export interface Grown {
  readonly databaseUrl: string;
  /** Of all, in Base64. */
  readonly sealingKey: string;
  readonly brokerPort: number;
  readonly folder: string;
  readonly collectors: Collector[];
  readonly postgres: PostgresServer;
  broker(): Mosquitto;
  startBroker(): Promise<void>;
  /** Starts one again where it was. */
  restart(index: number): Promise<void>;
  /** Ends everything, whatever has failed. */
  close(): Promise<void>;
}

/**
 * What an operator does for several machines: one sealing key for all, a name at the broker for each, the broker's certificate from
 * the first.
 * @param options.replicas At most as many as mosquitto.acl has names for.
 * @param options.env For each collector.
 */
export async function startGrown(
  mosquitto: DebianRoot, options: { readonly replicas: number; readonly env?: Readonly<Record<string, string>> },
): Promise<Grown> {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-grown-"));
  const certificates = join(folder, "certificates");
  const collectors: Collector[] = [];
  let postgres: PostgresServer | null = null;
  let broker: Mosquitto | null = null;
  const close = async () => {
    await Promise.all(collectors.map((collector) => collector.kill()));
    await broker?.kill();
    await postgres?.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const server = await startPostgres({ isDurable: true });
    postgres = server;
    await server.createDatabase("lanthorn");
    const databaseUrl = server.urlOf("lanthorn");
    const brokerPort = await findFreePort();
    const ports = await Promise.all(Array.from({ length: options.replicas }, findFreePort));
    const sealingKey = randomBytes(32).toString("base64");
    const shared = {
      LANTHORN_DATABASE_URL: databaseUrl, LANTHORN_MQTT_URL: `mqtts://127.0.0.1:${brokerPort}`,
      LANTHORN_ADMIN_PASSWORD: "of all collectors", LANTHORN_SEALING_KEY: sealingKey, LANTHORN_LOG_LEVEL: "warn", ...options.env,
    };
    const start = (index: number) => startCollector({
      dataDir: join(folder, `collector-${index + 1}`), host: "127.0.0.1", httpPort: ports[index] as number,
      env: { ...shared, LANTHORN_MQTT_NAME: `lanthorn-collector${index === 0 ? "" : `-${index + 1}`}` },
    });
    const startBroker = async () => {
      broker = await startMosquitto(mosquitto, { folder: join(folder, "mosquitto"), certificates, port: brokerPort });
    };
    collectors.push(await start(0));
    await runCommand(process.execPath, [COLLECTOR, "certificate", "--name", "127.0.0.1", "--out", certificates], {
      env: { ...shared, LANTHORN_DATA_DIR: join(folder, "collector-1") },
    });
    await startBroker();
    collectors.push(...(await Promise.all(Array.from({ length: options.replicas - 1 }, (_, index) => start(index + 1)))));
    return {
      databaseUrl, sealingKey, brokerPort, folder, collectors, postgres: server, startBroker, close,
      broker: () => broker as Mosquitto,
      async restart(index) {
        collectors[index] = await start(index);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
