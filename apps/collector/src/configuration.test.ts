import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { readCollectorConfiguration, unreadVariables, unusedSecrets } from "./configuration.ts";

const made: string[] = [];
afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true });
});

function directory(files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), "collector-configuration-"));
  made.push(path);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

function read(toml: string, environment: Record<string, string> = {}) {
  return readCollectorConfiguration(join(directory({ "collector.toml": toml }), "collector.toml"), environment);
}

function refusal(toml: string, environment: Record<string, string> = {}): string {
  try {
    read(toml, environment);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("was not refused");
}

describe("the collector's configuration", () => {
  test("says which variable of the environment no setting has", () => {
    const environment = { PATH: "/bin", LANTHORN_HTTP_PROT: "1", LANTHORN_HTTP_PORT: "1", LANTHORN_TOKEN_SECRET: "x", LANTHORN_SESSION: "x" };
    expect(unreadVariables(environment)).toEqual([expect.stringContaining("LANTHORN_HTTP_PROT") as string]);
  });

  test("knows every variable that it reads", () => {
    const text = readFileSync(new URL("configuration.ts", import.meta.url), "utf8");
    const read = [...text.matchAll(/"(LANTHORN_[A-Z_]+)"/g)].map(([, name]) => [name, "x"]);
    expect(unreadVariables(Object.fromEntries(read) as Record<string, string>)).toEqual([]);
  });

  test("has a default for every key", () => {
    const configuration = read("");
    expect(configuration).toMatchObject({
      http: { host: "127.0.0.1", port: 8080 }, https: { enabled: true, port: 8443, names: [] }, mqtt: { port: 8883 },
      token: { lifetime_seconds: 86_400 }, probes: { silent_after_seconds: 90 }, log_level: "info",
      rate_limits: {
        standard: { per_minute: 60, burst: 10 }, admin: { per_minute: 120, burst: 20 }, service: { per_minute: 300, burst: 50 },
        pages: { per_minute: 6000, burst: 1000 },
      },
    });
    expect(configuration.database_location).toEqual({ file: "/var/lib/lanthorn-collector/lanthorn.db" });
  });

  test("lets the environment override the file", () => {
    const configuration = read('data_dir = "/a"\n[http]\nport = 1', {
      LANTHORN_DATA_DIR: "/b", LANTHORN_HTTP_PORT: "0", LANTHORN_HTTPS_NAMES: "one.example, 10.0.0.1",
      LANTHORN_DATABASE_URL: "sqlite:/c/d.db",
    });
    expect(configuration).toMatchObject({
      data_dir: "/b", http: { port: 0 }, https: { names: ["one.example", "10.0.0.1"] }, database_location: { file: "/c/d.db" },
    });
    expect(read("", { LANTHORN_DATABASE_URL: "sqlite:///c/d.db" }).database_location).toEqual({ file: "/c/d.db" });
  });

  test("keeps a password of digits as it is", () => {
    expect(read("", { LANTHORN_ADMIN_PASSWORD: "007" }).admin.password).toBe("007");
  });

  test("takes secrets from systemd's credentials, and the environment before them", () => {
    const credentials = directory({ "admin-password": "from a file\n", "token-secret": `${"s".repeat(40)}\n` });
    expect(read("", { CREDENTIALS_DIRECTORY: credentials })).toMatchObject({
      admin: { password: "from a file" }, token: { secret: "s".repeat(40) },
    });
    expect(read("", { CREDENTIALS_DIRECTORY: credentials, LANTHORN_ADMIN_PASSWORD: "x" }).admin.password).toBe("x");
    expect(read("", { CREDENTIALS_DIRECTORY: directory({}) }).admin.password).toBeUndefined();
  });

  test.each([
    ["an unknown key", "[http]\nprot = 1", "http.prot"],
    ["a port out of range", "[http]\nport = 70000", "http.port"],
    ["a text for a number", '[mqtt]\nport = "many"', "mqtt.port"],
    ["a tier of nothing", "[rate_limits.admin]\nburst = 0", "rate_limits.admin.burst"],
    ["a proxy that is no address", 'trusted_proxies = ["10.0.0.0/33"]', "trusted_proxies.0"],
    ["a broker that is none", '[mqtt]\nurl = "http://x"', "mqtt.url"],
    ["an origin with a path", '[cors]\norigins = ["https://a.example/x"]', "cors.origins.0"],
    ["a service without a secret", '[services.vault]\nurl = "https://vault"', "services.vault.secret"],
    ["a service by another scheme", '[services.ipam]\nurl = "ftp://x"', "services.ipam.url"],
    ["the gateway as another process", '[services.gateway]\nurl = "https://x"', "services.gateway"],
    ["a certificate without its key", '[https]\ncertificate_file = "/a"', "https"],
  ])("names the path of %s", (_, toml, path) => {
    expect(refusal(toml)).toContain(`\n  ${path}: `);
  });

  test("takes a file or a PostgreSQL for its database, and nothing else", () => {
    const url = "postgres://lanthorn:secret@db.example:5433/lanthorn?sslmode=verify-full";
    expect(read("", { LANTHORN_DATABASE_URL: url }).database_location).toEqual({ url, poolSize: 10, statementTimeoutSeconds: 30 });
    expect(read("[database]\npool_size = 4\nstatement_timeout_seconds = 5", {
      CREDENTIALS_DIRECTORY: directory({ "database-url": `${url}\n` }),
    }).database_location)
      .toEqual({ url, poolSize: 4, statementTimeoutSeconds: 5 });
    for (const wrong of ["lanthorn.db", "sqlite:", "postgres://user:secret@host", "mysql://user:secret@host/name"]) {
      const message = refusal("", { LANTHORN_DATABASE_URL: wrong });
      expect(message).toContain("database.url: sqlite:");
      expect(message).not.toContain("secret");
    }
    expect(refusal("", { CREDENTIALS_DIRECTORY: directory({ "database-url": "postgres:secret" }) })).toMatch(
      /database-url: sqlite:(?!.*secret)/,
    );
  });

  test("refuses a short token secret without repeating it", () => {
    const message = refusal("", { LANTHORN_TOKEN_SECRET: "too-short" });
    expect(message).toContain("token.secret");
    expect(message).not.toContain("too-short");
  });
});

test("a name at the broker that could be a probe's is refused", () => {
  expect(read("", { LANTHORN_MQTT_NAME: "lanthorn-collector-2" }).mqtt.name).toBe("lanthorn-collector-2");
  for (const name of ["store-12", "lanthorn-collector-", "lanthorn-collector/#"]) {
    expect(refusal("", { LANTHORN_MQTT_NAME: name })).toContain("mqtt.name");
  }
});

test("secrets of the gateway and of services may be credentials, and an empty one is not given", () => {
  const secret = "0123456789".repeat(4);
  const credentials = directory({ "gateway-secret": `${secret}\n`, "vault-secret": secret, "token-secret": "" });
  const configuration = read('[services.vault]\nurl = "https://vault:8443"\n', { CREDENTIALS_DIRECTORY: credentials });
  expect([configuration.gateway.secret, configuration.services.vault?.secret, configuration.token.secret]).toEqual([
    secret, secret, undefined,
  ]);
  expect(read("", { LANTHORN_GATEWAY_SECRET: `${secret}x`, CREDENTIALS_DIRECTORY: credentials.replace(/$/, "-none") }).gateway.secret)
    .toBe(`${secret}x`);
});

test("a secret of a service that has no url is not used, and named with the setting that it waits for", () => {
  const secret = "0123456789".repeat(4);
  const environment = { CREDENTIALS_DIRECTORY: directory({ "vault-secret": secret }), LANTHORN_IPAM_SECRET: secret };
  const none = read("", environment);
  expect(none.services).toEqual({});
  expect(unusedSecrets(none, environment)).toEqual([
    expect.stringContaining("services.vault.url") as string, expect.stringContaining("services.ipam.url") as string,
  ]);
  const one = read('[services.vault]\nurl = "https://vault:8443"\n', environment);
  expect(one.services).toMatchObject({ vault: { secret } });
  expect(unusedSecrets(one, environment)).toEqual([expect.stringContaining("services.ipam.url") as string]);
  expect(unusedSecrets(none, { LANTHORN_GATEWAY_SECRET: secret })).toEqual([]);
  expect(refusal("services = 1", environment)).toContain("\n  services: ");
  expect(refusal("[services.vault]\ntimeout_seconds = 5", environment)).toContain("\n  services.vault.url: ");
});
