//! Stores of a value's bytes at the start of a row's room.

/// In place of a column in the binary protocol: NULL is a byte among the values.
pub(super) const NULL_TEXT: u8 = 0xfb;

/// Most bytes of the length before a string that is on a page.
pub(super) const LENGTH_BYTES_MAX: usize = 3;

/// As many bytes as `N`, from `from` on.
#[inline(always)]
pub(super) fn chunk<const N: usize>(body: &[u8], from: usize) -> [u8; N] {
    let mut chunk = [0; N];
    chunk.copy_from_slice(&body[from..from + N]);
    chunk
}

/// Stores eight bytes, of which the caller may need fewer: what follows is stored over the rest.
#[inline(always)]
pub(super) fn store_8(room: &mut [u8], bits: u64) {
    if let Some(place) = room.first_chunk_mut() {
        *place = bits.to_le_bytes();
    }
}

/// Stores a string after its length; what is left of the room.
#[inline(always)]
pub(super) fn store_text<'o>(text: &[u8], room: &'o mut [u8]) -> &'o mut [u8] {
    let len = text.len();
    if len < usize::from(NULL_TEXT) {
        let (place, rest) = room.split_at_mut(1 + len);
        place[0] = len as u8;
        place[1..].copy_from_slice(text);
        return rest;
    }
    store_long_text(text, room)
}

#[inline(never)]
fn store_long_text<'o>(text: &[u8], room: &'o mut [u8]) -> &'o mut [u8] {
    let len = store_text_len(text.len(), room);
    let (place, rest) = room[len..].split_at_mut(text.len());
    place.copy_from_slice(text);
    rest
}

/// Stores the length before a string of a page; its bytes.
#[inline(always)]
pub(super) fn store_text_len(len: usize, room: &mut [u8]) -> usize {
    if len < usize::from(NULL_TEXT) {
        room[0] = len as u8;
        return 1;
    }
    let [low, high] = (len as u16).to_le_bytes();
    room[..LENGTH_BYTES_MAX].copy_from_slice(&[0xfc, low, high]);
    LENGTH_BYTES_MAX
}

/// Stores a DATE of the binary protocol: nothing but its length if all is zero.
pub(super) fn store_date_parts(date: u64, room: &mut [u8]) -> usize {
    let len = if date == 0 { 0 } else { 4 };
    store_8(room, len | (date >> 9) << 8 | (date >> 5 & 15) << 24 | (date & 31) << 32);
    1 + len as usize
}
