delete from task_notifications
where message_id = ?1
