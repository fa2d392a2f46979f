import { hashText } from "../fnv.ts";
import { type Device, isFirstMet, type News } from "./devices/device.ts";
import { type Feature, PLACE } from "./features.ts";
import { isAdminFlow, type ObservedBroadcast, type ObservedFlow, type ObservedQuery } from "./flow.ts";
import { meet } from "./devices/usual.ts";
import { addLeading } from "./sketches/leading.ts";
import { MAX_PORTS } from "./sketches/leading-ports.ts";

/** News of one device and hour that are kept. */
const MAX_NEWS = 16;
/** Peers of an hour whose bytes are added up: the least of them gives way. */
const MAX_SENT_TO = 16;

/** Counts a flow for the one who opened it. @param isRarePeer Whether few devices of the site talk to the responder. */
export function countOriginator(device: Device, flow: ObservedFlow, isRarePeer: boolean): void {
  const { distinct, leading, met } = device.hour;
  const peer = hashText(flow.responder);
  const port = hashText(flow.port);
  countTraffic(device, flow, flow.bytesOut, flow.bytesIn);
  if (flow.isResponderInside) add(device, "east_west_share", flow.bytesOut + flow.bytesIn);
  else {
    add(device, "bytes_outside", flow.bytesOut);
    addSent(device.hour.sentTo, flow.responder, flow.bytesOut);
    if (isRarePeer) {
      add(device, "bytes_to_rare", flow.bytesOut);
      if (device.hour.rarePeers.size < MAX_SENT_TO) device.hour.rarePeers.add(flow.responder);
    }
  }
  if (!flow.isFirstPart) return;
  addLeading(leading, `uses ${flow.port}`, MAX_PORTS);
  add(device, "peers", distinct.peers.add(peer));
  add(device, "ports", distinct.ports.add(port));
  if (flow.isResponderInside) add(device, "fan_out", distinct.inside.add(peer));
  if (flow.hasFailed) {
    add(device, "failed_flows", 1);
    return;
  }
  meet(met, "peers", flow.responder);
  meet(met, "ports", `uses ${flow.port}`);
  if (isFirstMet(device, "peers", peer)) add(device, "new_peers", 1);
  if (isFirstMet(device, "ports", port)) add(device, "new_ports", 1);
  const what = `${flow.responder} ${flow.port}`;
  if (isAdminFlow(flow) && isFirstMet(device, "admin_peers", hashText(what))) addNews(device, { kind: "admin", what, peer: flow.responder, flows: 1 });
  if (flow.region === "") return;
  const isNewRegion = isFirstMet(device, "regions", hashText(flow.region));
  const news = device.hour.news.find((one) => one.what === flow.region);
  if (news) news.flows += 1;
  else if (isNewRegion) addNews(device, { kind: "region", what: flow.region, peer: flow.responder, flows: 1 });
}

/** Counts a flow for the one who was asked. */
export function countResponder(device: Device, flow: ObservedFlow): void {
  countTraffic(device, flow, flow.bytesIn, flow.bytesOut);
  if (flow.isOriginatorInside) add(device, "east_west_share", flow.bytesOut + flow.bytesIn);
  else add(device, "bytes_outside", flow.bytesIn);
  if (!flow.isFirstPart) return;
  addLeading(device.hour.leading, `offers ${flow.port}`, MAX_PORTS);
  if (!flow.hasFailed) meet(device.hour.met, "ports", `offers ${flow.port}`);
  add(device, "peers", device.hour.distinct.peers.add(hashText(flow.originator)));
}

/** Counts what was said to all. */
export function countBroadcast(device: Device, { port, packets }: ObservedBroadcast): void {
  add(device, "broadcasts", packets);
  meet(device.hour.met, "ports", `says ${port}`);
  device.hour.bucket[PLACE.presence] = 1;
}

/** Counts a question for a name. */
export function countQuery(device: Device, query: ObservedQuery): void {
  add(device, "dns_queries", 1);
  add(device, "names", device.hour.distinct.names.add(hashText(query.name)));
  if (!query.isMissing) meet(device.hour.met, "names", query.name);
  if (query.isMissing) add(device, "nxdomain_share", 1);
}

function countTraffic(device: Device, flow: ObservedFlow, sent: number, received: number): void {
  add(device, "bytes_out", sent);
  add(device, "bytes_in", received);
  add(device, "packets", flow.packets);
  if (flow.isFirstPart) add(device, "flows", 1);
  // A bucket is present or it is not.
  device.hour.bucket[PLACE.presence] = 1;
}

function add({ hour: { bucket } }: Device, feature: Feature, more: number): void {
  bucket[PLACE[feature]] = (bucket[PLACE[feature]] ?? 0) + more;
}

function addNews({ hour }: Device, news: News): void {
  if (hour.news.length < MAX_NEWS) hour.news.push(news);
}

function addSent(sentTo: Map<string, number>, peer: string, bytes: number): void {
  const known = sentTo.get(peer);
  if (known === undefined && sentTo.size >= MAX_SENT_TO) {
    const [least, fewest] = [...sentTo].reduce((lowest, entry) => (entry[1] < lowest[1] ? entry : lowest));
    if (fewest >= bytes) return;
    sentTo.delete(least);
  }
  sentTo.set(peer, (known ?? 0) + bytes);
}
