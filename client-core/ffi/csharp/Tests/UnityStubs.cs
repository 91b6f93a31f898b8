// As much of UnityEngine as the sample uses, so that it can be compiled without Unity.

namespace UnityEngine
{
    public class Object
    {
        public static void Destroy(Object gone) { }
        public static T Instantiate<T>(T original, Transform parent) where T : Object
        {
            return null;
        }
    }

    public class Behaviour : Object
    {
        public bool enabled;
        public Transform transform;
    }

    public class MonoBehaviour : Behaviour { }

    public class Transform
    {
        public void SetPositionAndRotation(Vector3 position, Quaternion rotation) { }
    }

    public enum PrimitiveType { Cube }

    public class GameObject : Object
    {
        public Transform transform;
        public static GameObject CreatePrimitive(PrimitiveType type) { return null; }
    }

    public struct Vector3
    {
        public static Vector3 up, zero;
        public float x, y, z;
        public Vector3(float x, float y, float z) { this.x = x; this.y = y; this.z = z; }
    }

    public struct Quaternion
    {
        public float x, y, z, w;
        public Quaternion(float x, float y, float z, float w)
        {
            this.x = x;
            this.y = y;
            this.z = z;
            this.w = w;
        }
    }

    public struct Ray
    {
        public Vector3 GetPoint(float distance) { return Vector3.zero; }
    }

    public struct Plane
    {
        public Plane(Vector3 normal, Vector3 point) { }
        public bool Raycast(Ray ray, out float distance) { distance = 0; return true; }
    }

    public class Camera
    {
        public static Camera main;
        public Ray ScreenPointToRay(Vector3 position) { return new Ray(); }
    }

    public static class Input
    {
        public static Vector3 mousePosition;
        public static bool GetMouseButtonDown(int button) { return false; }
    }

    public static class Application
    {
        public static string persistentDataPath;
    }

    public static class Debug
    {
        public static void LogError(object message) { }
        public static void LogWarning(object message) { }
    }
}
