/** What changes at the simulated site: what somebody should hear of, and what nobody should. */
import { BEGIN, type Change, DAY, type Draw, type Host, HOUR, type Kind, type Scene } from "./behaviour-site.ts";

type Plan = (hosts: readonly Host[], random: Draw, day: number, number: number) => Change;

/** The site has two weeks to itself; the last day is left for what takes a day. */
const FIRST_DAY = 14;
const LAST_DAY = 40;
const PLANTED: readonly (readonly [number, Plan])[] = [[4, exfiltration], [4, scan], [3, adminPeer], [3, newCountry], [3, nightActivity], [3, beacon]];
const ORDINARY: readonly (readonly [number, Plan])[] = [[5, patchDay], [5, backup], [5, newPrinter], [5, holiday]];

/** 20 to be found and 20 ordinary ones, each on a day that is drawn. */
export function planChanges(hosts: readonly Host[], random: Draw): Change[] {
  return [...PLANTED, ...ORDINARY].flatMap(([count, plan]) => Array.from({ length: count }, (_, number) => {
    const day = FIRST_DAY + Math.floor((LAST_DAY - FIRST_DAY) * random());
    return plan(hosts, random, day, number);
  }));
}

function pick(hosts: readonly Host[], random: Draw, kinds: readonly Kind[]): Host {
  // The server that polls all hosts and the people who administer are left out: for them these are ordinary.
  const able = hosts.filter((host) => kinds.includes(host.kind) && !host.isAdmin && host.name !== "server-14");
  const host = able[Math.floor(able.length * random())];
  if (!host) throw new Error("no such host");
  return host;
}

/** Emits `count` flows in the part of the hour that lies in the change. */
function spread(scene: Scene, change: { readonly from: number; readonly to: number }, at: number, count: number): number[] {
  const [from, to] = [Math.max(at, change.from), Math.min(at + HOUR, change.to)];
  return Array.from({ length: Math.round((count * (to - from)) / HOUR) }, () => from + (to - from) * scene.random());
}

function exfiltration(hosts: readonly Host[], random: Draw, day: number, number: number): Change {
  const host = pick(hosts, random, ["workstation", "server", "camera"]);
  const from = BEGIN + day * DAY + 22 * HOUR * random();
  const span = { from, to: from + (0.5 + 1.5 * random()) * HOUR };
  const bytes = 1e9 * 20 ** random();
  return {
    name: "exfiltration", isPlanted: true, devices: [host.name], ...span,
    act: (scene, at) => spread(scene, span, at, 10).forEach((time) =>
      scene.emit({ at: time, originator: host.name, responder: `out-drop-${number}`, port: "tcp/443", bytesOut: (bytes * HOUR) / (10 * (span.to - span.from)), bytesIn: 2e5 })),
  };
}

function scan(hosts: readonly Host[], random: Draw, day: number): Change {
  const host = pick(hosts, random, ["workstation", "phone", "camera", "printer", "sensor", "server"]);
  const from = BEGIN + day * DAY + 22 * HOUR * random();
  const span = { from, to: from + (0.1 + random()) * HOUR };
  const addresses = 60 + Math.floor(190 * random());
  const port = ["tcp/445", "tcp/22", "tcp/80", "tcp/3389"][Math.floor(4 * random())] ?? "tcp/445";
  return {
    name: "scan", isPlanted: true, devices: [host.name], ...span,
    act: (scene, at) => spread(scene, span, at, (addresses * HOUR) / (span.to - span.from)).forEach((time) =>
      scene.emit({ at: time, originator: host.name, responder: `address-${Math.floor(254 * scene.random())}`, port, bytesOut: 0, bytesIn: 0, packets: 2, hasFailed: scene.random() < 0.9 })),
  };
}

function adminPeer(hosts: readonly Host[], random: Draw, day: number): Change {
  const host = pick(hosts, random, ["workstation", "phone", "camera", "printer", "sensor"]);
  const peer = pick(hosts, random, ["server", "camera", "workstation"]);
  const port = ["tcp/22", "tcp/3389", "tcp/5985"][Math.floor(3 * random())] ?? "tcp/22";
  const from = BEGIN + day * DAY + 22 * HOUR * random();
  const span = { from, to: from + HOUR };
  return {
    name: "new admin peer", isPlanted: true, devices: [host.name], ...span,
    act: (scene, at) => spread(scene, span, at, 3).forEach((time) => scene.emit({ at: time, originator: host.name, responder: peer.name, port, bytesOut: 20_000, bytesIn: 60_000, packets: 200 })),
  };
}

function newCountry(hosts: readonly Host[], random: Draw, day: number, number: number): Change {
  const host = pick(hosts, random, ["workstation", "camera", "printer", "sensor", "server", "phone"]);
  const from = BEGIN + day * DAY + 20 * HOUR * random();
  const span = { from, to: from + (1 + 3 * random()) * HOUR };
  return {
    name: "new country", isPlanted: true, devices: [host.name], ...span,
    act: (scene, at) => spread(scene, span, at, 8).forEach((time) =>
      scene.emit({ at: time, originator: host.name, responder: `out-far-${number}-${Math.floor(4 * scene.random())}`, port: "tcp/443", region: `far-${number}`, bytesOut: 5000 })),
  };
}

function nightActivity(hosts: readonly Host[], random: Draw, day: number): Change {
  const host = pick(hosts, random, ["workstation"]);
  const from = BEGIN + day * DAY + (1 + random()) * HOUR;
  const span = { from, to: from + (2 + 2 * random()) * HOUR };
  return {
    name: "night activity", isPlanted: true, devices: [host.name], ...span,
    act: (scene, at) => spread(scene, span, at, 30 + 40 * host.pace).forEach((time) => {
      const site = Math.floor(5000 ** scene.random());
      scene.emit({ at: time, originator: host.name, responder: scene.random() < 0.3 ? `server-${1 + Math.floor(3 * scene.random())}` : `out-site-${site}`, port: "tcp/443", bytesOut: 3000, bytesIn: 40_000 });
    }),
  };
}

function beacon(hosts: readonly Host[], random: Draw, day: number, number: number): Change {
  const host = pick(hosts, random, ["workstation", "server", "camera", "printer"]);
  const from = BEGIN + (day - 1 + random()) * DAY;
  const span = { from, to: from + 2 * DAY };
  const [period, jitter, bytes] = [60 * 30 ** random(), 0.3 * random(), 400 + 2000 * random()];
  let next = from;
  return {
    name: "beacon", isPlanted: true, devices: [host.name], ...span,
    act: (scene, at) => {
      for (; next < Math.min(at + HOUR, span.to); next += period * (1 + jitter * (2 * scene.random() - 1))) {
        scene.emit({ at: next, originator: host.name, responder: `out-control-${number}`, port: "tcp/443", bytesOut: Math.round(bytes), bytesIn: Math.round(bytes / 2) });
      }
    },
  };
}

function patchDay(hosts: readonly Host[], random: Draw, day: number, number: number): Change {
  const from = BEGIN + day * DAY + (random() < 0.5 ? 20 : 10) * HOUR;
  const span = { from, to: from + 3 * HOUR };
  const patched = hosts.filter(({ kind }) => kind === "workstation" || kind === "server");
  return {
    name: "patch day", isPlanted: false, devices: patched.map(({ name }) => name), ...span,
    act: (scene, at) => patched.forEach(({ name }) => spread(scene, span, at, 8).forEach((time) => scene.emit({
      at: time, originator: name, responder: `out-patches-${number}-${Math.floor(6 * scene.random())}`, port: "tcp/443", bytesOut: 500_000, bytesIn: 2e8 * scene.random(),
    }))),
  };
}

/** From some night on, each night. */
function backup(hosts: readonly Host[], random: Draw, day: number): Change {
  const host = pick(hosts, random, ["workstation", "server"]);
  const from = BEGIN + day * DAY + 1 * HOUR;
  const bytes = 5e9 * 10 ** random();
  return {
    name: "backup", isPlanted: false, devices: [host.name], from, to: from + 60 * DAY,
    act: (scene, at) => {
      if ((at - from) % DAY !== 0) return;
      spread(scene, { from: at, to: at + HOUR }, at, 8).forEach((time) => scene.emit({ at: time, originator: host.name, responder: "server-13", port: "tcp/873", bytesOut: bytes / 8, bytesIn: 1e6 }));
    },
  };
}

/** A device that was not there, to which a part of the people print from then on. */
function newPrinter(hosts: readonly Host[], random: Draw, day: number, number: number): Change {
  const name = `new-printer-${number}`;
  const users = hosts.filter((host) => host.kind === "workstation" && random() < 0.3);
  const from = BEGIN + day * DAY + 9 * HOUR;
  return {
    name: "new printer", isPlanted: false, devices: [name, ...users.map((user) => user.name)], from, to: from + 60 * DAY,
    act: (scene, at) => {
      const hour = ((at - BEGIN) % DAY) / HOUR;
      scene.emit({ at: at + 1800, originator: name, responder: "out-printer-cloud", port: "tcp/443" });
      if (hour < 9 || hour > 16 || Math.floor((at - BEGIN) / DAY) % 7 >= 5) return;
      for (const user of users) if (scene.random() < 0.3) scene.emit({ at: at + HOUR * scene.random(), originator: user.name, responder: name, port: "tcp/9100", bytesOut: 4e5 });
    },
  };
}

function holiday(_hosts: readonly Host[], _random: Draw, day: number): Change {
  const from = BEGIN + day * DAY;
  return { name: "holiday", isPlanted: false, devices: [], from, to: from + DAY, act: () => undefined };
}
