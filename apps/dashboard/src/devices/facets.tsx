import type { DeviceFilter } from "@lanthorn/contract";
import { useSession } from "../session/use-session.ts";
import { FacetList } from "../states/facets.tsx";
import { DEVICE_TYPE_NAMES } from "../texts/device-type.ts";

const FIELDS = { device_type: "Type", presence_state: "State", vendor: "Vendor" } as const;
const TYPE_NAMES: ReadonlyMap<string, string> = new Map(Object.entries(DEVICE_TYPE_NAMES));

/** What the devices are that the filter leaves, counted. */
export function Facets({ filter, onChange }: { readonly filter: DeviceFilter; readonly onChange: (filter: DeviceFilter) => void }) {
  const { rest } = useSession();
  return (
    <FacetList<keyof typeof FIELDS>
      summary="Types, states and vendors" fields={FIELDS} chosen={filter} queryKey={["devices", "facets", filter]} read={() => rest.countDevices(filter)}
      show={(name, value) => (name === "device_type" ? TYPE_NAMES.get(value) ?? value : value)}
      onChoose={(name, value) => {
        const { [name]: _before, ...others } = filter;
        onChange(value === undefined ? others : { ...others, [name]: value });
      }}
    />
  );
}
