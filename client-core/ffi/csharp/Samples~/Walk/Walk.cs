using System.Collections.Generic;
using Ambit;
using UnityEngine;

/// <summary>
/// Joins a game; makes, moves and destroys an object for each one in sight. Give a prefab for each
/// kind that you know; others are cubes.
/// </summary>
public sealed class Walk : MonoBehaviour
{
    [System.Serializable]
    public struct KindPrefab
    {
        /// <summary>The name of a kind in the game's schema.</summary>
        public string kind;
        public GameObject prefab;
    }

    public string server = "127.0.0.1:7777";
    public string game = "field";
    /// <summary>0 creates a room.</summary>
    public int room = 0;
    /// <summary>A command with one position.</summary>
    public string moveCommand = "move";
    public KindPrefab[] prefabs = new KindPrefab[0];

    private readonly Dictionary<uint, GameObject> made = new Dictionary<uint, GameObject>();
    private readonly Dictionary<uint, GameObject> prefabOfKind = new Dictionary<uint, GameObject>();
    private Client client;
    private uint move;
    private bool canMove;

    private void OnEnable()
    {
        ClientOptions options = new ClientOptions
        {
            Server = server,
            // Phones have no file of the user.
            KnownHosts = Application.persistentDataPath + "/ambit_known_hosts",
        };
        if (Client.TryStart(options, out client) != Status.Ok)
        {
            Debug.LogError(Client.LastError.ToString());
            enabled = false;
        }
    }

    private void OnDisable()
    {
        if (client != null)
        {
            client.Dispose();
            client = null;
        }
        RemoveAll();
    }

    private void Update()
    {
        ClientEvent happened;
        while (client.NextEvent(out happened))
        {
            Handle(happened);
        }
        Frame frame;
        // False after a long pause: the next frame has it.
        if (client.NextFrame(out frame))
        {
            Show(frame);
        }
        if (canMove && Input.GetMouseButtonDown(0))
        {
            MoveTo(Input.mousePosition);
        }
    }

    private void Handle(ClientEvent happened)
    {
        switch (happened.Name)
        {
            case "welcome":
                PlayerInfo player;
                client.Player(out player);
                if (player.Room != 0)
                {
                    // After a break, in the room as before.
                    break;
                }
                if (room != 0)
                {
                    client.JoinRoom((ulong)room);
                }
                else
                {
                    client.CreateRoom(new NewRoom { Name = "from Unity", Game = game });
                }
                break;
            case "created":
                client.StartRoom();
                break;
            case "started":
                LookUp();
                break;
            case "refused":
            case "error":
            case "closed":
                Debug.LogWarning(happened.Json);
                break;
        }
    }

    /// <summary>Indexes are those of one game: they are looked up when it begins.</summary>
    private void LookUp()
    {
        canMove = client.Find(Item.Command, moveCommand, out move) == Status.Ok;
        prefabOfKind.Clear();
        foreach (KindPrefab known in prefabs)
        {
            uint kind;
            if (client.Find(Item.Kind, known.kind, out kind) == Status.Ok)
            {
                prefabOfKind[kind] = known.prefab;
            }
        }
    }

    private void Show(Frame frame)
    {
        foreach (uint id in frame.Went)
        {
            GameObject gone;
            if (made.TryGetValue(id, out gone))
            {
                made.Remove(id);
                Destroy(gone);
            }
        }
        System.ReadOnlySpan<SeenObject> inSight = frame.InSight;
        for (int index = 0; index < inSight.Length; index++)
        {
            ref readonly SeenObject seen = ref inSight[index];
            GameObject shown;
            if (!made.TryGetValue(seen.Id, out shown))
            {
                shown = Make(seen.Kind);
                made.Add(seen.Id, shown);
            }
            shown.transform.SetPositionAndRotation(
                ToUnity(seen.Position), ToUnity(seen.Rotation));
        }
    }

    private GameObject Make(uint kind)
    {
        GameObject prefab;
        return prefabOfKind.TryGetValue(kind, out prefab)
            ? Instantiate(prefab, transform)
            : GameObject.CreatePrimitive(PrimitiveType.Cube);
    }

    private void RemoveAll()
    {
        foreach (GameObject shown in made.Values)
        {
            Destroy(shown);
        }
        made.Clear();
    }

    private void MoveTo(Vector3 mouse)
    {
        Ray ray = Camera.main.ScreenPointToRay(mouse);
        float distance;
        if (new Plane(Vector3.up, Vector3.zero).Raycast(ray, out distance))
        {
            Vector3 to = ray.GetPoint(distance);
            client.Send(move, CommandField.Position(to.x, to.z, to.y));
        }
    }

    /// <summary>Ambit has z up, Unity y: both are swapped, which mirrors.</summary>
    private static Vector3 ToUnity(Float3 position)
    {
        return new Vector3(position.X, position.Z, position.Y);
    }

    /// <summary>The mirror turns the other way: the axis is swapped, the angle negated.</summary>
    private static Quaternion ToUnity(Float4 rotation)
    {
        return new Quaternion(-rotation.X, -rotation.Z, -rotation.Y, rotation.W);
    }
}
