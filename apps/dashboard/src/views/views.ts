import { type AlertFilter, type DeviceFilter, formatAlertFilter, formatDeviceFilter, parseAlertFilter, parseDeviceFilter, type View, type ViewSubject } from "@lanthorn/contract";

/** A list of which views are saved, and the language of its filters. */
export interface Viewed<Filter> {
  readonly list: ViewSubject;
  readonly parse: (text: string) => { readonly ok: true; readonly filter: Filter } | { readonly ok: false; readonly message: string };
  readonly format: (filter: Filter) => string;
}

/** The list of devices. */
export const DEVICE_VIEWS: Viewed<DeviceFilter> = { list: "devices", parse: parseDeviceFilter, format: formatDeviceFilter };
/** The list of alerts. */
export const ALERT_VIEWS: Viewed<AlertFilter> = { list: "alerts", parse: parseAlertFilter, format: formatAlertFilter };

/** What a view shows. */
export interface Shown<Filter> {
  readonly filter: Filter;
  /** Undefined for the list's own order. */
  readonly sort: string | undefined;
  /** Names, in their order. Empty for those that the list has anyway. */
  readonly columns: readonly string[];
}

/** What a view shows, or in words why its filter is none: another version has saved it. */
type ReadView<Filter> = { readonly ok: true; readonly shown: Shown<Filter> } | { readonly ok: false; readonly message: string };

/** Reads a saved view. */
export function readView<Filter>({ parse }: Viewed<Filter>, { filter, sort, columns }: View): ReadView<Filter> {
  const read = parse(filter);
  return read.ok ? { ok: true, shown: { filter: read.filter, sort: sort === "" ? undefined : sort, columns } } : { ok: false, message: read.message };
}
