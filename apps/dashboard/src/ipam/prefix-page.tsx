import type { IpamPrefixAddress, IpamUtilization } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Facts } from "../fields/facts.tsx";
import { Button } from "../parts/button.tsx";
import { Mark } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { RemoveButton } from "../states/removal.tsx";
import { useNumberedList } from "../states/use-list.ts";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { percent } from "../texts/percent.ts";
import { Holder } from "./ipam-page.tsx";
import styles from "./ipam.module.css";

const route = getRouteApi("/ipam/$prefixId");
const PAGE_SIZE = 200;

/** A planned network: how much of it is used, and each of its addresses that is recorded or in use. */
export function PrefixPage() {
  const { rest } = useSession();
  const { prefixId } = route.useParams();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const mayWrite = useMay("ipam:write");
  const prefix = useQuery({ queryKey: ["ipam", "prefix", prefixId], queryFn: () => rest.readIpamPrefix(prefixId) });
  const take = useMutation({
    mutationFn: () => rest.allocateIpamAddress(prefixId, { status: "assigned", mac: null, hostname: "", description: "" }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["ipam"] }),
  });
  const known = prefix.data;
  return (
    <Page
      trail={<Link to="/ipam">All prefixes</Link>}
      title={known ? `Prefix ${known.prefix}` : "Prefix"}
      note={known && <>{known.name !== "" && <><Foreign text={known.name} longest={80} /> · </>}{known.status}{known.vlan_id !== null && ` · VLAN ${known.vlan_id}`}</>}
      actions={known && mayWrite && (
        <>
          <Button onClick={() => take.mutate()} disabled={take.isPending || known.status === "container"}>Record the next free address</Button>
          <RemoveButton of={known.prefix} then="Its recorded addresses stay. This cannot be undone." keys={["ipam"]} remove={async () => {
            await rest.deleteIpamPrefix(prefixId);
            await navigate({ to: "/ipam" });
          }}
          />
        </>
      )}
    >
      {take.isError && <ErrorNote error={take.error} />}
      {take.data && <p role="status">Recorded: <code>{take.data.ip}</code></p>}
      <Answer query={prefix}>{(found) => <Content prefixId={found.id} />}</Answer>
    </Page>
  );
}

function Content({ prefixId }: { readonly prefixId: string }) {
  const { rest } = useSession();
  const used = useQuery({ queryKey: ["ipam", "utilization", prefixId], queryFn: () => rest.readIpamPrefixUtilization(prefixId) });
  const addresses = useNumberedList({ queryKey: ["ipam", "addresses", prefixId], read: (page) => rest.listIpamPrefixAddresses(prefixId, { page, per_page: PAGE_SIZE }) });
  return (
    <>
      <Panel title="Usage"><Answer query={used}>{(of) => <Used of={of} />}</Answer></Panel>
      <Panel title="Addresses recorded or in use" isFlush>
        <Answer query={addresses}>
          {({ list }) => (list.length === 0 ? <Empty title="No addresses yet">None is recorded, and no device has one of them.</Empty> : (
            <>
              <Table heads={["IP address", "Recorded", "Recorded MAC", "In use by"]}>{list.map((address) => <AddressRow key={`${address.ip} ${address.recorded?.id}`} {...address} />)}</Table>
              {addresses.hasNextPage && <p className={styles["more"]}><Button onClick={() => void addresses.fetchNextPage()} disabled={addresses.isFetchingNextPage}>Show more</Button></p>}
            </>
          ))}
        </Answer>
      </Panel>
    </>
  );
}

function Used({ of: { size, used, recorded, observed, ratio, children, children_ratio: inChildren } }: { readonly of: IpamUtilization }) {
  const shareOf = (part: number) => (part > 0 && part < 0.001 ? `below ${percent(0.001, 1)}` : percent(part, part > 0 && part < 0.1 ? 1 : 0));
  return (
    <div className={styles["used"]}>
      <meter aria-label="Used" min={0} max={1} high={0.9} value={ratio} />
      <Facts of={[
        ["Used", `${used.toLocaleString("en")} of ${BigInt(size).toLocaleString("en")}, ${shareOf(ratio)}`], ["Recorded", recorded.toLocaleString("en")], ["In use now", observed.toLocaleString("en")],
        ["Prefixes in it", children === 0 ? "none" : `${children.toLocaleString("en")}, ${shareOf(inChildren)} of it`],
      ]}
      />
    </div>
  );
}

function AddressRow({ ip, recorded, observed }: IpamPrefixAddress) {
  return (
    <tr>
      <td><code>{ip}</code></td>
      <td>{recorded ? <><Mark tone={recorded.status === "assigned" ? "good" : "calm"}>{recorded.status}</Mark> <Foreign text={recorded.hostname || recorded.description} longest={80} /></> : "–"}</td>
      <td>{recorded?.mac ? <code>{showForeign(recorded.mac, 40)}</code> : "–"}</td>
      <td>{observed.length === 0 ? "–" : observed.slice(0, 4).map((holder) => <Holder key={`${holder.device_id} ${holder.mac}`} {...holder} />)}</td>
    </tr>
  );
}
