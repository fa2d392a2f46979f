import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { isIn, ourImports, outsideImports, product, readExports, relativeImports, roomOf, ROOT, sources, unitOf } from "./source-tree.ts";

/** What each package may import of ours. What is not in its list is forbidden; a package that is not here fails the test. */
const PACKAGE_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  packets: [],
  "packet-io": ["packets"],
  traffic: ["packets"],
  fingerprints: ["packets", "linear-regex", "vulnerability"],
  "linear-regex": [],
  anomaly: [],
  dns: ["packets"],
  ids: ["packets", "traffic", "linear-regex"],
  vulnerability: [],
  contract: [],
  client: ["contract"],
  runtime: [],
  toolchain: [],
};

/** Packages that stand on nothing else, or on one named library, so that they stay pure. Tests may use more. */
const LIBRARY_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  packets: [], traffic: ["node:crypto"], ids: ["node:crypto"], dns: ["tldts"], "linear-regex": [], anomaly: [], vulnerability: [], contract: ["zod"], client: ["zod"],
};

/** Packages of ours that an app may use. An app that is not here fails the test. */
const APP_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  probe: ["packets", "packet-io", "traffic", "fingerprints", "ids", "dns", "anomaly", "contract", "client", "runtime"],
  collector: ["anomaly", "dns", "fingerprints", "ids", "vulnerability", "contract", "runtime"],
  cli: ["contract", "client", "packets", "runtime"],
  dashboard: ["contract", "client"],
};

/**
 * The rooms of an app, from what stands on nothing to what stands on all: a room imports rooms of lines above its own, and no others. A
 * room that is not here fails the test.
 */
const ROOMS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  probe: [
    ["bus", "capture", "channel", "flows", "identity", "queue"],
    ["ongoing"],
    ["bundles", "credentials", "egress", "files", "health", "ids", "listen", "status", "uplink"],
    ["dns-lists"],
    ["decoy", "dns-threats", "intrusions", "resolver"],
    ["detect", "fingerprints", "identify", "traffic"],
    ["eve", "hosts", "nmap", "probing", "snmp"],
    ["naming", "observe", "search"],
    ["sweep"],
    ["routed"],
    ["scan"],
    ["discover"],
    ["daemon"],
  ],
  collector: [
    ["db"],
    ["archives", "jobs", "sealing", "software"],
    ["backups", "certificates"],
    ["gateway"],
    ["broker", "dashboard", "documents", "events", "identity", "services/auth", "services/bundles", "services/sites", "services/vault"],
    ["sources"],
    [
      "deliveries", "replicas", "retention", "services/alerts", "services/anomalies", "services/backups", "services/baselines", "services/config-versions", "services/cve", "services/dns", "services/guards", "services/honeypots", "services/ids", "services/ipam",
      "services/license", "services/pcap", "services/scans", "services/topology", "services/workspace",
    ],
    ["ingest", "services/audit", "services/events"],
    ["metrics", "services/files"],
    ["services/agents", "services/devices", "services/diplomat", "services/feeds"],
    ["commands"],
  ],
  cli: [["options"], ["commands"], ["groups"]],
  dashboard: [["build", "preferences", "styles"], ["keyboard", "texts"], ["fields", "parts"], ["states"], ["session"], ["shell"], ["captures", "sensors", "views"], ["alerts", "anomalies", "audit", "backups", "baselines", "configurations", "device", "devices", "dns", "guards", "ids", "integrations", "ipam", "license", "live", "map", "overview", "scans", "settings", "sites", "vault", "vulnerabilities"]],
};

/** Rooms that use no library and nothing of Node → the packages of ours that they may use. */
const PURE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  "apps/probe/src/bus": ["packets", "packet-io", "runtime"],
  "apps/probe/src/observe": ["packets", "fingerprints"],
};

/** Parts of packages that have a door of their own, for who would keep all the rest in memory for nothing. */
const DOORS: ReadonlySet<string> = new Set(["@lanthorn/contract/uplink", "@lanthorn/fingerprints/recog", "@lanthorn/vulnerability/names"]);

/** Libraries that open sockets below IP or call the C library → the packages whose product may use them. */
const PACKET_LIBRARIES: Readonly<Record<string, readonly string[]>> = { pcap: ["packet-io"], koffi: ["packet-io"] };

/** Names that say nothing about what is inside. */
const EMPTY_NAMES: ReadonlySet<string> = new Set(["common", "utils", "util", "shared", "types", "core", "helpers", "misc"]);

/** Rooms that hold one file for each of something, however many there are. */
const TABLES_OF_ONE_KIND: ReadonlySet<string> = new Set([
  "apps/probe/src/identify/protocols", "apps/collector/src/db/migrations", "apps/cli/src/commands", "packages/contract/src/rest",
  "packages/contract/src/rest/operations",
]);

describe("packages", () => {
  test("import only the packages that the table allows", () => {
    const broken = product.filter(isIn("packages")).flatMap((source) => {
      const allowed = PACKAGE_IMPORTS[unitOf(source)];
      if (!allowed) return [`${source.path}: its package is not in the table`];
      return ourImports(source).filter((name) => name !== unitOf(source) && !allowed.includes(name))
        .map((name) => `${source.path} imports ${name}`);
    });
    expect(broken).toEqual([]);
  });

  test("that are pure import no library and nothing of Node", () => {
    const broken = product.filter(isIn("packages")).flatMap((source) => {
      const allowed = LIBRARY_IMPORTS[unitOf(source)];
      return allowed ? outsideImports(source).filter((name) => !allowed.includes(name))
        .map((name) => `${source.path} imports ${name}`) : [];
    });
    expect(broken).toEqual([]);
  });

  test("are imported by what they export, never by a file inside; the probe only by what it speaks", () => {
    const inside = sources.flatMap(({ path, imports }) =>
      imports.filter((name) => /^@lanthorn\/[^/]+\//.test(name) && !DOORS.has(name)).map((name) => `${path} imports ${name}`));
    const whole = product.filter(isIn("apps/probe")).filter(({ imports }) => imports.includes("@lanthorn/contract"))
      .map(({ path }) => `${path} imports REST's schemas`);
    expect([...inside, ...whole]).toEqual([]);
  });

  test("have one index.ts, and nothing else has one", () => {
    const found = product.map((source) => source.path).filter((path) => basename(path) === "index.ts");
    expect(found.filter((path) => !/^packages\/[^/]+\/src\/index\.ts$/.test(path))).toEqual([]);
  });
});

describe("apps", () => {
  test("import no other app", () => {
    const apps = readdirSync(join(ROOT, "apps"));
    const broken = product.filter(isIn("apps"))
      .flatMap((source) => ourImports(source).filter((name) => apps.includes(name)).map((name) => `${source.path} imports ${name}`));
    expect(broken).toEqual([]);
  });

  test("import only the packages that the table allows", () => {
    expect(readdirSync(join(ROOT, "apps")).toSorted()).toEqual(Object.keys(APP_IMPORTS).toSorted());
    const broken = product.filter(isIn("apps")).flatMap((source) =>
      ourImports(source).filter((name) => !APP_IMPORTS[unitOf(source)]?.includes(name)).map((name) => `${source.path} imports ${name}`));
    expect(broken).toEqual([]);
  });

  test("reach the packets of an interface through packet-io alone", () => {
    const users = Object.entries(PACKET_LIBRARIES).map(([library, allowed]) => {
      const loads = new RegExp(`(?:from |require\\(|import\\(|\\)\\()"${library}["/]`);
      const found = product.filter((source) => loads.test(source.text)).map(unitOf);
      return [library, [...new Set(found)], allowed];
    });
    expect(users.map(([library, found]) => [library, found])).toEqual(users.map(([library, , allowed]) => [library, allowed]));
  });

  test("keep their pure rooms pure", () => {
    const broken = Object.entries(PURE_ROOMS).flatMap(([room, allowed]) => {
      const files = product.filter(isIn(room));
      return files.length === 0 ? [`${room} is empty`] : files.flatMap((source) => [
        ...ourImports(source).filter((name) => !allowed.includes(name)), ...outsideImports(source),
      ].map((name) => `${source.path} imports ${name}`));
    });
    expect(broken).toEqual([]);
  });

  test("read the environment in main.ts only", () => {
    const broken = product.filter((source) => basename(source.path) !== "main.ts" && /\bprocess\.env\b/.test(source.text))
      .map((source) => source.path);
    expect(broken).toEqual([]);
  });

  test("have rooms that import only rooms below them in the table", () => {
    const levels = new Map<string, number>(Object.entries(ROOMS).flatMap(([app, lines]) =>
      lines.flatMap((line, level) => line.map((room) => [`apps/${app}/src/${room}`, level] as const))));
    const rooms = new Set(product.flatMap((source) => roomOf(source.path) ?? []));
    expect([...rooms].toSorted()).toEqual([...levels.keys()].toSorted());
    const broken = product.flatMap((source) => {
      const from = roomOf(source.path);
      if (from === null) return [];
      const others = relativeImports(source).flatMap((path) => roomOf(path) ?? []).filter((room) => room !== from);
      return others.filter((room) => (levels.get(room) ?? Number.NaN) >= (levels.get(from) ?? Number.NaN))
        .map((room) => `${source.path} imports ${room}`);
    });
    expect(broken).toEqual([]);
  });

  test("let no service of the collector import another", () => {
    const serviceOf = (path: string) => /^apps\/collector\/src\/services\/([^/]+)\//.exec(path)?.[1];
    const broken = product.filter((source) => serviceOf(source.path)).flatMap((source) =>
      relativeImports(source).filter((path) => serviceOf(path) && serviceOf(path) !== serviceOf(source.path))
        .map((path) => `${source.path} imports ${path}`),
    );
    expect(broken).toEqual([]);
  });
});

/** A statement of SQL: Kysely's builders, its template, and our helpers for many rows. */
const SQL = /\.(?:selectFrom|insertInto|updateTable|deleteFrom|replaceInto|mergeInto)\(|\bsql(?:<[^>]*>)?`|\b(?:insertMany|upsertMany)\(/;

/** The configuration as a whole is for the files that wire the collector, and for commands; all others read their own part of it. */
const WHOLE_CONFIGURATION: readonly string[] = ["backups/commands/options.ts", "certificates/commands.ts"];

test("the collector's parts read their own part of the configuration, not the whole", () => {
  const rooms = product.filter(({ path }) => /^apps\/collector\/src\/(?!commands\/)[^/]+\//.test(path));
  expect(rooms.filter(({ path }) => path.endsWith("/configuration.ts")).length).toBeGreaterThan(10);
  const whole = rooms.filter((source) => relativeImports(source).includes("apps/collector/src/configuration.ts")).map(({ path }) => path);
  expect(whole.toSorted()).toEqual(WHOLE_CONFIGURATION.map((path) => `apps/collector/src/${path}`));
});

test("the probe's parts read their own part of the configuration, not the whole", () => {
  const rooms = product.filter(({ path }) => /^apps\/probe\/src\/[^/]+\//.test(path));
  expect(rooms.filter(({ path }) => path.endsWith("/settings.ts")).length).toBeGreaterThan(10);
  const whole = rooms.filter((source) => relativeImports(source).includes("apps/probe/src/configuration.ts")).map(({ path }) => path);
  expect(whole).toEqual(["apps/probe/src/daemon/parts/round-context.ts"]);
});

describe("stores", () => {
  const collector = product.filter(isIn("apps/collector/src"));
  const stores = collector.filter(({ path }) => /(?:\/|-)store\.ts$|\/store\/[^/]+\.ts$/.test(path));

  test("hold all SQL of the collector, beside db/", () => {
    expect(stores.filter(({ text }) => SQL.test(text)).length).toBeGreaterThan(40);
    const others = collector.filter((source) => !stores.includes(source) && !source.path.startsWith("apps/collector/src/db/"));
    expect(others.length).toBeGreaterThan(250);
    expect(others.filter(({ text }) => SQL.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("raise no HTTP errors", () => {
    expect(stores.length).toBeGreaterThan(40);
    const broken = stores.filter((source) => /\bApiError\b/.test(source.text)
      || relativeImports(source).some((name) => /\/gateway\/(?:errors|route)\.ts$/.test(name)));
    expect(broken.map(({ path }) => path)).toEqual([]);
  });
});

describe("files", () => {
  test("never reach out of their own package by a relative path", () => {
    const broken = product.flatMap((source) => {
      const home = `${source.path.split("/").slice(0, 3).join("/")}/`;
      return relativeImports(source).filter((path) => !path.startsWith(home)).map((path) => `${source.path} imports ${path}`);
    });
    expect(broken).toEqual([]);
  });

  test("have names in kebab case that say what is inside", () => {
    const broken = sources.map((source) => source.path).filter((path) => {
      const parts = path.split("/");
      const name = basename(path).replace(/(\.(test|bench|config|d|module))?\.(ts|tsx|css)$/, "");
      return !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || [...parts.slice(2, -1), name].some((part) => EMPTY_NAMES.has(part));
    });
    expect(broken).toEqual([]);
  });

  test("use the field's words for reports, pollers, maintenance and unknown hosts", () => {
    const files = sources.filter(({ path }) => /^(?:apps|packages)\/.*\.ts$/.test(path));
    expect(files.length).toBeGreaterThan(1000);
    expect(files.filter(({ text }) => /\b(?:told|telling|asker|upkeep|strangers)\b/.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("have at most 300 lines, tests and tables of data aside", () => {
    const long = product.filter((source) => source.text.split("\n").length > 301).map((source) => source.path);
    expect(long).toEqual([]);
  });

  test("lie at most fifteen in a room; more get rooms of their own", () => {
    const counts = new Map<string, number>();
    for (const { path } of product.filter(({ path }) => /^(?:apps|packages)\/[^/]+\/src\//.test(path))) {
      counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    }
    expect(counts.size).toBeGreaterThan(60);
    const crowded = [...counts].filter(([room, count]) => count > 15 && !TABLES_OF_ONE_KIND.has(room)).map(([room]) => room);
    expect(crowded).toEqual([]);
  });

  test("take zod as a namespace, of which a bundle keeps what is used", () => {
    const broken = sources.filter((source) => /import (?:type )?\{[^}]*\} from "zod"/.test(source.text)).map((source) => source.path);
    expect(broken).toEqual([]);
  });

  test("take timers and clocks from runtime alone, which a test can hold", () => {
    const own = /(?<![.\w])(?:setTimeout|setInterval)\(|\bDate\.now\b|\bperformance\.now\b|\bprocess\.hrtime\b|\bnew Date\(\)|"node:timers/;
    const users = product.filter((source) => own.test(source.text)).map((source) => source.path);
    const allowed = (path: string) => path.startsWith("packages/runtime/") || path.startsWith("apps/collector/src/db/migrations/")
      || path === "apps/dashboard/src/clock.ts";
    expect(users).toContain("packages/runtime/src/clock.ts");
    expect(users.filter((path) => !allowed(path))).toEqual([]);
  });

  test("of the product import nothing that was made for tests", () => {
    expect(sources.filter(({ path }) => path.includes("/testing/")).length).toBeGreaterThan(20);
    const broken = product.flatMap((source) => relativeImports(source).filter((path) => /\/testing\/|\.test\.ts$/.test(path))
      .map((path) => `${source.path} imports ${path}`));
    expect(broken).toEqual([]);
  });

  test("document every export", () => {
    const found = product.filter(({ path }) => /\.tsx?$/.test(path) && !/\/migrations\/\d/.test(path)).map(readExports);
    expect(found.reduce((sum, { documented }) => sum + documented.size, 0)).toBeGreaterThan(2000);
    expect(found.flatMap(({ path, bare }) => bare.map((name) => `${path}: ${name}`))).toEqual([]);
  });

  test("import each other in no circle", () => {
    expect(findCircle(new Map(product.map((source) => [source.path, relativeImports(source)])))).toEqual([]);
  });
});

test("the README's map names every package and every app", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const units = [...readdirSync(join(ROOT, "packages")), ...readdirSync(join(ROOT, "apps"))];
  expect(units.filter((unit) => !readme.includes(`${unit}/`))).toEqual([]);
});

/** The packages that were named for this project. */
const NAMED_PACKAGES = [
  "raw-socket", "pcap", "arp-lookup", "node-nmap", "oui-data", "better-sqlite3", "mqtt", "hono", "@hono/node-server", "ws", "jose", "tsx", "vitest",
  "turbo",
];

test("the README says of every package that was named where it is used, or what is used instead", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const rows = new Map([...readme.matchAll(/^\| `([^`]+)` \| ([^|]+) \| (.+) \|$/gm)].map(([, name, users, words]) => [name, { users, words }]));
  expect(NAMED_PACKAGES.map((name) => [name, rows.get(name)?.users])).toEqual(NAMED_PACKAGES.map((name) => [name, usersOf(name) || "-"]));
  // The row names what replaces it and links to the reason.
  const replaced = [...rows.values()].filter(({ users }) => users === "-");
  expect(replaced.filter(({ words = "" }) => !/`[^`]+`/.test(words) || !words.includes("README.md)"))).toEqual([]);
});

/** The folders whose product depends on a package, as the README writes them. */
function usersOf(name: string): string {
  const folders = ["packages", "apps"].flatMap((folder) => readdirSync(join(ROOT, folder)).map((unit) => `${folder}/${unit}`)).toSorted();
  const hasIt = (folder: string, field: string) =>
    Object.hasOwn((JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as Record<string, object>)[field] ?? {}, name);
  return [
    ...folders.filter((folder) => hasIt(folder, "dependencies")).map((folder) => `\`${folder}\``), ...(hasIt(".", "devDependencies") ? ["the root"] : []),
  ].join(", ");
}

/** @returns The first circle of imports, as a path that ends where it began; empty where there is none. */
function findCircle(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): readonly string[] => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return [];
    for (const next of graph.get(path) ?? []) {
      const circle = visit(next, [...way, path]);
      if (circle.length > 0) return circle;
    }
    done.add(path);
    return [];
  };
  for (const path of graph.keys()) {
    const circle = visit(path, []);
    if (circle.length > 0) return circle;
  }
  return [];
}
