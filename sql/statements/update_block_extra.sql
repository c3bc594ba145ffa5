update content_blocks
set extra_json = ?2
where block_id = ?1
