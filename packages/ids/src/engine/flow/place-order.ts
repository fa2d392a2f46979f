/** Rules are tried in the order of their places in the base. */

/** So few are sorted by inserting: `sort` copies them twice. */
const MAX_INSERTED = 24;

/** Sorts places where they are. */
export function sortPlaces(places: number[]): void {
  if (places.length > MAX_INSERTED) {
    places.sort((one, other) => one - other);
    return;
  }
  for (let index = 1; index < places.length; index += 1) {
    const place = places[index] as number;
    let at = index;
    while (at > 0 && (places[at - 1] as number) > place) {
      places[at] = places[at - 1] as number;
      at -= 1;
    }
    places[at] = place;
  }
}
