import { Aedes, type AedesOptions, type Client, type PublishPacket } from "aedes";

type Done = (error?: Error) => void;

/** aedes, but what a probe publishes goes to `published` at once. */
class UplinkAedes extends Aedes {
  /**
   * aedes calls it with the client that publishes, and then looks up twice who subscribes to the topic. No probe may subscribe to what
   * probes publish to, and nothing of it is retained.
   */
  override publish(packet: PublishPacket, by: Client | Done | null, done?: Done): void {
    if (by === null || typeof by === "function") super.publish(packet, by ?? done ?? (() => {}));
    else this.published({ ...packet, brokerId: this.id, brokerCounter: 0 }, by, (error) => done?.(error ?? undefined));
  }
}

/** Opens aedes as a broker of which only the `published` of its options hears what clients publish. */
export async function openUplinkAedes(options: AedesOptions): Promise<Aedes> {
  const aedes = new UplinkAedes(options);
  await aedes.listen();
  return aedes;
}
